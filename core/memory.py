"""How much memory a run will need, from the shape of its table alone.

Counts the large arrays that are alive together at the peak of each phase, in the worst case: no two
rows are equal, and codes share a byte as seldom as can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log, prod
from typing import Literal

from core.budgets import (
    CROSS_ROWS,
    DISCRETE_LEVELS,
    HELD_ROWS,
    KEPT_VALUES,
    KNOWN_CELLS,
    MORE_LEAVES,
    WORTHWHILE,
    is_large,
    is_many,
    is_spread,
    rows_of_shard,
)
from core.config import (
    Compare,
    Evaluate,
    GlobalFs,
    GsmCpd,
    Iselect,
    Method,
    Rjmi,
    SelectionConfig,
)

EngineKind = Literal["memory", "file"]
ENGINES: tuple[EngineKind, ...] = ("memory", "file")
"""Where the table of a run lies: the first that has room is taken."""

MAX_STRATEGIES = 2
"""So many ways to cut are tried with more states than one for each class."""

OF_THE_TRUTH = 2.5
"""Peaks that the tests measure lie below the estimate, and above the estimate divided by this."""

NUMBER_CELL = 8
READ_CELL = 40
"""For each cell of the text columns that are read at a time: its view, its place and a copy."""

READ_AT_A_TIME = 8_000_000
"""Cells, of as many columns as that are; of a column no more than HELD_ROWS."""

TEXT_BYTES = 150
TEXT_COPIES = 4
"""For each different text: the first and as often its bytes, counting the table that finds it."""

STRETCH_COPIES = 8
"""The same where a column is not held: row groups tell their texts apart, then stretches do."""

COLUMN_ROW = 64
"""For each row of a column that is held while it is encoded: its value, sorted and counted."""

ROW_BYTES = 8
"""For each row, whatever its columns: its label, its code in one column, and the sums of buckets
from which rows are drawn."""

WEIGHT_BYTES = 8
PARTIAL_BYTES = 17
"""For each row, where some have no label: which do, the weights to learn by, and their labels."""

GROUPED_ROW = 48
"""For each row up to HELD_ROWS, and where trials are held for all: what draws and groups rows."""

COLUMN_BYTES = 12_000
"""For each column: how the rows outside of every fold would have it cut, and what is said of it."""

WHOLE_CODES = 5
"""Tables of one byte a cell beside the fine codes: encoded, packed, and copies on the way."""

SHARD_CODES = 8
"""The same for the shards that are worked on together: the next one is read or made."""

BYTE = 256
RIVAL_CODES = 2
"""Tables of one byte a cell: the columns as a rival packs them, and those it works on."""

FOLD_TABLES = 3
"""Tables of one byte a cell that every fold has for each way to cut."""

LOSS_BYTES, MOST_TRIED, ANEW = 8 * 31, 8, 4
"""For each row and configuration: losses at thirty sizes. So many are tried at most, and the best
of them anew with counts, with another cut beside it, and at greater lengths."""

RAW_CELL, CODE_CELL, KNOWN_CELL = 44, 3, 16
"""For each cell that is judged: as raw values, as codes, and as numbers a part at a time."""

RAW_HELD = 24
"""For each raw value while features are chosen: itself, and the room that putting it there left."""

RIVAL_ROW = 128
"""For each row up to HELD_ROWS: whom candidates are counted with, and logarithms of counts."""

PATTERN_ROW, LOG_ROW = 32, 24
"""For each row: the pattern of all that was chosen, rows in its order, what is said of patterns,
which may be as many as rows, and columns at work; up to HELD_ROWS logarithms of counts."""

LANES = 8
PARAMETER_BYTES = 52
"""For each level and lane: logs in single precision, counts and five sets of parameters."""

SEARCHED_LEVEL = 28
"""For each level and state of a model under which features are chosen: in both precisions."""

MOST_LEFT = 64 << 20
"""What the folds of many rows gave back to the allocator, which keeps it: the rows of a fit are
arrays so large that they are mapped anew."""

NODES_PER_VARIABLE = 64
"""Combinations of values that share a byte, per variable, at five levels or so."""


@dataclass(frozen=True)
class TableShape:
    """A table as it is encoded: `n_levels` of each feature, `n_text` columns that hold text.

    In those are `n_texts` different texts, column by column, of `text_bytes` in all. `n_continuous`
    features hold numbers that have to be cut, and `n_moments` are parts of moments. Rows may have
    weights, and `is_partial` is true where some have no label.
    """

    n_rows: int
    n_levels: Sequence[int]
    n_classes: int
    n_text: int = 0
    n_texts: int = 0
    text_bytes: int = 0
    n_continuous: int = 0
    n_moments: int = 0
    has_weights: bool = False
    is_partial: bool = False

    @property
    def n_features(self) -> int:
        """How many columns there are besides the target."""
        return len(self.n_levels)


def estimate_memory(
    shape: TableShape,
    config: SelectionConfig,
    engine: EngineKind = "memory",
    compare: Compare | None = None,
    *,
    resamples: bool = False,
) -> int:
    """Bytes that a run needs at its peak, beyond what the process and its caller hold anyway.

    Columns are read one by one, so that either reading one is the peak, or working on the codes of
    all; with the engine `file` those lie in scratch files. Trials choose among most of the rows
    once more, and so do halves of them where the job `resamples`.
    """
    fine = shape.n_rows * shape.n_features if engine == "memory" else 0
    methods = (config.method, *(compare.methods if compare else ()))
    work = max(_choosing(shape, method, engine) for method in methods)
    for how in (config.evaluate, compare.evaluate if compare else None):
        if how is not None:
            work = max(work, _trial(shape, methods, how, engine), _judging(shape, how, engine))
    has_trials = resamples or config.evaluate is not None or compare is not None
    told = _rows(shape, has_trials=has_trials) + COLUMN_BYTES * shape.n_features
    return fine + told + max(_reading(shape), work)


def _rows(shape: TableShape, *, has_trials: bool) -> int:
    """What each row takes, whatever its columns."""
    each = ROW_BYTES + WEIGHT_BYTES * shape.has_weights + PARTIAL_BYTES * shape.is_partial
    n_grouped = shape.n_rows if has_trials else min(shape.n_rows, HELD_ROWS)
    return each * shape.n_rows + GROUPED_ROW * n_grouped


def _choosing(shape: TableShape, method: Method, engine: EngineKind) -> int:
    if isinstance(method, GsmCpd):
        return _gsm(shape, method, engine)
    return _rival(shape, method, engine)


def _trial(shape: TableShape, methods: Sequence[Method], how: Evaluate, engine: EngineKind) -> int:
    """Most of the rows once more, in memory if they are not many, and a choice by them.

    Of what judging the trial before took, some is not given back.
    """
    train = replace(shape, n_rows=ceil(shape.n_rows * (1 - how.test_fraction)))
    n_cells = train.n_rows * shape.n_features
    codes = n_cells if engine == "memory" or not is_large(1, n_cells) else 0
    raw = RAW_HELD * shape.n_rows * shape.n_features if how.values == "raw" else 0
    chosen = max(_choosing(part, m, engine) for m in methods for part in (shape, train))
    return codes + raw + chosen + _judging(shape, how, engine) // 2


def _reading(shape: TableShape) -> int:
    """Some columns that are read at a time, and one that is encoded."""
    n_rows = min(shape.n_rows, HELD_ROWS)
    columns = min(shape.n_features + 1, max(1, READ_AT_A_TIME // max(1, shape.n_rows)))
    n_text = min(shape.n_text, columns)
    share, copies = n_text / max(shape.n_text, 1), TEXT_COPIES
    if n_rows < shape.n_rows:
        # Those of two stretches, one of which was just read, and those that are kept.
        n_held, copies = 2 * n_rows + KEPT_VALUES, STRETCH_COPIES
        share *= min(1, n_held * shape.n_text / max(shape.n_texts, 1))
    vocabulary = share * (TEXT_BYTES * shape.n_texts + copies * shape.text_bytes)
    read = NUMBER_CELL * (columns - n_text) + READ_CELL * n_text
    return n_rows * (COLUMN_ROW + read) + int(vocabulary)


def _judging(shape: TableShape, how: Evaluate, engine: EngineKind) -> int:
    """The parts of a split as codes and as what distances are taken on, some of it as numbers."""
    n_cells = shape.n_rows * shape.n_features
    if how.values == "raw":
        return RAW_CELL * n_cells
    held = CODE_CELL * n_cells if engine == "memory" or not is_large(1, n_cells) else 0
    return held + KNOWN_CELL * min(n_cells, KNOWN_CELLS)


def _rival(shape: TableShape, method: Method, engine: EngineKind) -> int:
    """The columns as they are packed, or two blocks of them, of two shards each, at work."""
    packed = RIVAL_CODES * shape.n_rows * shape.n_features
    if engine == "file" and is_large(shape.n_rows, shape.n_features):
        packed = 4 * RIVAL_CODES * rows_of_shard(shape.n_features) * shape.n_features
    n_held = min(shape.n_rows, HELD_ROWS)
    if isinstance(method, Iselect | Rjmi | GlobalFs):
        return packed + PATTERN_ROW * shape.n_rows + LOG_ROW * n_held
    return packed + RIVAL_ROW * n_held


def _gsm(shape: TableShape, method: GsmCpd, engine: EngineKind) -> int:
    rank = min(max(method.ranks), shape.n_rows)
    fit = _fit_spread if is_spread(shape.n_rows, shape.n_features) else _fit_whole
    search = _search(shape, method, rank)
    left = min(search, MOST_LEFT) if is_many(shape.n_rows) else 0
    return max(left + fit(shape, method, rank, engine), search, _selection(shape, method, rank))


def _fit_whole(shape: TableShape, method: GsmCpd, rank: int, _engine: EngineKind) -> int:
    """All rows packed, and restarts beside each other, of which half go on.

    Where many rows differ, restarts see a few of them, and the models that are left see all.
    """
    distinct = replace(shape, n_rows=_most_distinct(shape))
    codes = WHOLE_CODES * shape.n_rows * (shape.n_features + 1)
    if not is_many(distinct.n_rows):
        return codes + _restarts(distinct, method, rank)
    few, barely_few = (replace(shape, n_rows=n * CROSS_ROWS) for n in (1, WORTHWHILE))
    last = sum(_bank(rows, method, method.n_models, rank) for rows in (few, distinct))
    return codes + max(last, _restarts(barely_few, method, rank))


def _restarts(shape: TableShape, method: GsmCpd, rank: int) -> int:
    n_starts = max(method.n_init, method.n_models)
    n_kept = max(method.n_models, n_starts // 2)
    return _bank(shape, method, n_starts, rank) + _bank(shape, method, n_kept, rank)


def _most_distinct(shape: TableShape) -> int:
    """As many as there are combinations of levels, of which a gap is one more, and classes."""
    more = 1 + (MORE_LEAVES if shape.n_continuous else 0)
    combinations = shape.n_classes
    for n_levels in shape.n_levels:
        combinations *= n_levels + more
        if combinations >= shape.n_rows:
            return shape.n_rows
    return combinations


def _fit_spread(shape: TableShape, method: GsmCpd, rank: int, engine: EngineKind) -> int:
    """A few rows as if they were all, a shard at work, and in memory all shards."""
    few = replace(shape, n_rows=min(shape.n_rows, CROSS_ROWS))
    n_rows = min(shape.n_rows, rows_of_shard(shape.n_features))
    shard = replace(shape, n_rows=min(n_rows, _most_distinct(shape)))
    at_work = SHARD_CODES * n_rows * (shape.n_features + 1)
    at_work += _bank(shard, method, method.n_models, rank)
    kept = shape.n_rows * sum(map(_packed_cell, shape.n_levels)) if engine == "memory" else 0
    return int(kept) + at_work + _fit_whole(few, method, rank, engine)


def _packed_cell(n_levels: int) -> float:
    """Bytes of a cell once as many neighbours of so many levels as can share a byte.

    Who has too many levels for that with his like shares one with somebody else, or is not kept.
    """
    return 1 / max(2, int(log(BYTE) / log(max(n_levels, 2))))


def _search(shape: TableShape, method: GsmCpd, rank: int) -> int:
    """What the folds of a sample of the rows keep: their tables, fits at every rank, and losses."""
    sample = replace(shape, n_rows=min(shape.n_rows, CROSS_ROWS))
    tables = FOLD_TABLES * sample.n_rows * (sample.n_features + 1)
    fits = sum(shape.n_levels) * (8 * sum(method.ranks) + SEARCHED_LEVEL * rank)
    is_cut = shape.n_continuous > 0 or max(shape.n_levels, default=0) > DISCRETE_LEVELS
    n_ways = MAX_STRATEGIES if is_cut else 1
    n_tried = min(n_ways * len(method.ranks), MOST_TRIED) + ANEW
    folds = n_ways * method.n_folds * (tables + _bank(sample, method, 1, rank) + fits)
    return folds + n_tried * LOSS_BYTES * sample.n_rows


def _bank(shape: TableShape, method: GsmCpd, n_models: int, rank: int) -> int:
    """The models that are fitted side by side: what each row, level and node takes in each."""
    n_slices = shape.n_classes if method.family == "per_class" else 1
    states = max(1, -(-rank // n_slices))
    lanes = -(-n_models * states // LANES) * LANES
    rows = shape.n_rows * (4 * lanes + 28 * n_models)
    levels = n_slices * sum(shape.n_levels) * lanes * PARAMETER_BYTES
    nodes = sum(max(NODES_PER_VARIABLE, n) for n in shape.n_levels)
    return rows + levels + n_slices * nodes * lanes * 4


def _selection(shape: TableShape, method: GsmCpd, rank: int) -> int:
    """The fitted factors in both precisions, and the configurations with their children."""
    factors = method.n_models * sum(shape.n_levels) * rank * SEARCHED_LEVEL
    n_configurations = min(method.n_configurations, prod(shape.n_levels))
    children = n_configurations * rank * max(shape.n_levels, default=1) * 8
    return factors + method.n_models * n_configurations * rank * 24 + children
