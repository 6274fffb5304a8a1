"""The kernels of a selection with default options, with the kinds of their arguments.

By this list they are compiled in any order, so that two processes may begin at its two ends; by
calls both would come to the same kernels one after the other, and wait. A test holds it against
what such a selection calls, and says what to write here.
"""

from __future__ import annotations

from typing import Any

import numba

from core import _score_kernels as scores
from core.cpd import _counting_kernels as counting
from core.cpd import _kernels as steps
from core.cpd import _packing_kernels as packing
from core.cpd import _prediction_kernels as prediction
from core.cpd._lanes import LANES
from core.data import _cut_kernels as cuts
from core.data import _kernels as codes
from core.gsm import _copy_kernels as copies
from core.gsm import _counted_kernels as counted
from core.gsm import _kernels as search
from core.gsm import _level_kernels as levels
from core.gsm import _pair_kernels as pairs

types: Any = numba.types  # which has none

int32, int64, uint8, uint64 = types.int32, types.int64, types.uint8, types.uint64
boolean, float32, float64 = types.boolean, types.float32, types.float64

N, X = int64, float64
BYTES, BYTES_2, BYTES_4 = uint8[::1], uint8[:, ::1], uint8[:, :, :, ::1]
TRUTHS, TRUTHS_3 = boolean[::1], boolean[:, :, ::1]
SHORTS, INTS, INTS_3 = int32[::1], int64[::1], int64[:, :, ::1]
HASHES, WORDS_3 = uint64[::1], uint64[:, :, ::1]
SINGLES, SINGLES_2, SINGLES_3 = float32[::1], float32[:, ::1], float32[:, :, ::1]
FLOATS, FLOATS_2, FLOATS_3 = float64[::1], float64[:, ::1], float64[:, :, ::1]
FLOATS_4 = float64[:, :, :, ::1]
WIDTH = types.UniTuple(int64, LANES)

_tuple = types.BaseTuple.from_types
FINE = _tuple((INTS, TRUTHS, TRUTHS, FLOATS, FLOATS, FLOATS), cuts.Fine)
RULES = _tuple((N, N, N, X, N, FLOATS_2, FLOATS), cuts.Rules)
GROUPS = _tuple((BYTES_4, FLOATS_4, INTS_3, TRUTHS_3, TRUTHS_3), cuts.Groups)

SAMPLED = (BYTES_2, BYTES_2, FLOATS, BYTES_2, FLOATS, X)

DEFAULT: tuple[tuple[Any, tuple[Any, ...]], ...] = (
    (cuts.group_columns, (FLOATS_3, FINE, INTS, RULES, GROUPS)),
    (codes.count_columns, (BYTES_2, INTS, FLOATS, INTS, FLOATS_2)),
    (codes.tally_columns, (BYTES_2, BYTES, INTS, FLOATS_2)),
    (cuts.information, (FLOATS_2,)),
    (prediction.class_shares, (FLOATS_2, INTS, X)),
    (prediction.add_log_levels, (FLOATS_2, INTS, BYTES_2, FLOATS_2)),
    (prediction.add_beliefs, (FLOATS_2, int64[:], int64[:], FLOATS, FLOATS_2)),
    (prediction.add_true_probability,
     (FLOATS, FLOATS_2, INTS, FLOATS_2, BYTES_2, BYTES, N, FLOATS_2)),
    (scores.auc_of_rows, (FLOATS, TRUTHS)),
    (pairs.tell_alone, (BYTES_2, INTS, FLOATS, N, N)),
    (pairs.in_bits, (BYTES_2, INTS, N, N)),
    (pairs.tell_together_once,
     (WORDS_3, INTS, FLOATS, FLOATS, INTS, TRUTHS, FLOATS, N, N, TRUTHS)),
    (codes.hold, (BYTES_2, BYTES_2, FLOATS, FLOATS_2)),
    (copies.first_copy, (*SAMPLED, N, INTS)),
    (copies.cap, (*SAMPLED, INTS, INTS, INTS, FLOATS_3, FLOATS, FLOATS)),
    (counted.find_places, (BYTES_2, BYTES_2, BYTES_2, INTS)),
    (counted.count_least,
     (BYTES_2, BYTES_2, INTS, FLOATS, BYTES, N, INTS, INTS, INTS, FLOATS_3, INTS, FLOATS)),
    (levels.with_gaps, (FLOATS_2, INTS, FLOATS)),
    (levels.sum_levels, (FLOATS_2, INTS)),
    (search.shared_information, (FLOATS_2, INTS, FLOATS, N, N, INTS, FLOATS_2)),
    (search.nearest, (SINGLES_2, SINGLES_2, N, N, INTS)),
    *(
        one
        for reals, reals_2 in ((FLOATS, FLOATS_2), (SINGLES, SINGLES_2))
        for one in (
            (search.row_entropies, (reals_2, FLOATS)),
            (search.mixed_entropies, (reals_2, reals_2, FLOATS)),
            (search.child_weights, (FLOATS, reals_2, reals_2, FLOATS_2)),
            (search.sum_groups, (reals_2, FLOATS, INTS, FLOATS_2, FLOATS)),
            (search.information,
             (INTS, INTS, reals_2, reals_2, reals_2, INTS, INTS, reals, FLOATS, FLOATS_2)),
        )
    ),
    (codes.translate, (BYTES_2, INTS, BYTES_2, BYTES_2)),
    (packing.highest_codes, (BYTES_2,)),
    (packing.hash_rows, (BYTES_2, INTS)),
    (packing.first_of_equal, (BYTES_2, INTS, HASHES)),
    (packing.turn_rows, (BYTES_2,)),
    (packing.gather_rows, (BYTES_2, INTS, N)),
    (packing.level_totals, (BYTES_2, FLOATS)),
    (packing.extend_group, (BYTES, N, BYTES, N, SHORTS)),
    (packing.rewrite_group, (BYTES, N, BYTES, N, SHORTS, INTS, INTS)),
    (packing.sum_by_code, (BYTES_2, FLOATS_2)),
    (steps.take_logs, (FLOATS_3, INTS, N, N, FLOATS, X, SINGLES_3, FLOATS_3)),
    (steps.fill_tables, (SHORTS, SHORTS, N, N, SINGLES_3, SINGLES_3, WIDTH)),
    (steps.leap, (FLOATS_3, FLOATS_3, FLOATS_3, FLOATS_2, X, INTS, N, N, FLOATS_3)),
    (counting.update, (FLOATS_3, INTS, N, N, FLOATS, X, FLOATS_3)),
    (counting.collect,
     (BYTES_2, INTS, INTS, INTS, SHORTS, SHORTS, INTS, INTS, N, N,
      SINGLES_3, SINGLES_3, FLOATS_3, WIDTH)),
    (steps.expect,
     (BYTES_2, INTS, INTS, INTS, N, N,
      SINGLES_3, SINGLES_2, INTS, SINGLES_2, SINGLES_3, FLOATS_2, WIDTH)),
)  # fmt: skip
