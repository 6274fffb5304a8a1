"""How new rows are encoded by what was learnt about a column. Loads no compiler."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.arrays import MISSING, Bytes, Floats, Values
from core.data.edges import cut
from core.data.fine import FineColumn
from core.data.levels import different, level_name
from core.data.texts import Column, Texts
from core.data.values import split_missing
from core.errors import InvalidData
from core.results.selection import EncodedColumn


def encode_with(learnt: EncodedColumn, values: Column) -> Bytes:
    """Encode new rows as the learnt ones were; a level never seen is the merged one, or missing."""
    present, known, _ = split_missing(learnt.name, values)
    n_known = len(learnt.levels) - learnt.missing_is_level
    codes = np.full(len(present), n_known if learnt.missing_is_level else MISSING, dtype=np.uint8)
    codes[present] = _codes(known, learnt, learnt.levels[:n_known])
    return codes


def encode_finely(learnt: FineColumn, values: Column) -> Bytes:
    """Fine codes of some rows, those that it was learnt from or others."""
    present, known, _ = split_missing(learnt.name, values)
    codes = np.full(len(present), MISSING, dtype=np.uint8)
    codes[present] = _codes(known, learnt, learnt.levels or ())
    return codes


def as_numbers(learnt: EncodedColumn, values: Column) -> Floats:
    """The values of a continuous column, the codes of a discrete one; NaN where missing."""
    if learnt.kind == "discrete":
        codes = encode_with(learnt, values).astype(np.float64)
        return np.where(codes == MISSING, np.nan, codes)
    present, known, _ = split_missing(learnt.name, values)
    numbers = np.full(len(present), np.nan)
    numbers[present] = known
    return numbers


def _codes(
    known: Values | Texts, learnt: EncodedColumn | FineColumn, levels: Sequence[str]
) -> Bytes:
    if learnt.edges is not None:
        if isinstance(known, Texts):
            raise InvalidData(
                f"column {learnt.name!r} holds text where numbers were learnt", learnt.name
            )
        return cut(known.astype(np.float64), np.array(learnt.edges))
    n_named = len(levels) - (learnt.n_merged > 0)
    code_of = {level: code for code, level in enumerate(levels[:n_named])}
    unknown = n_named if learnt.n_merged else MISSING
    values, places = different(known)
    codes = (code_of.get(level_name(value), unknown) for value in values)
    return np.fromiter(codes, np.uint8, len(values))[places]
