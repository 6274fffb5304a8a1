"""How much memory a run will need, from the shape of its table alone.

Counts the large arrays that are alive together at the peak of each phase, in the worst case: no two
rows are equal, and codes share a byte as seldom as can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from core.config import GsmCpd, SelectionConfig

CROSS_ROWS = 20_000
"""More rows are sampled: the error that is left, some thousandths of a nat, decides nothing."""

MAX_STRATEGIES = 2
"""So many ways to cut are tried with more states than one for each class."""

OF_THE_TRUTH = 2.5
"""Peaks that the tests measure lie below the estimate, and above the estimate divided by this."""

NUMBER_CELL = 8
TEXT_CELL = 4
READ_CELL = 40
"""For each cell of the text columns that are read at a time: its view, its place and a copy."""

READ_AT_A_TIME = 8_000_000
"""Cells; a single column is always read whole."""

TEXT_BYTES = 150
TEXT_COPIES = 4
"""For each different text: the first and as often its bytes, counting the table that finds it."""

CODES_KEPT = 8
"""Tables of one byte a cell: fine and encoded columns, their packed form, copies on the way."""

FOLD_TABLES = 3
"""Tables of one byte a cell that every fold has for each way to cut."""

LOSS_BYTES = 8 * 31 * 8
"""For each row: losses of eight configurations, at thirty sizes."""

RIVAL_ROW = 128
"""For each row: its weight, its label and the joint codes that a rival counts."""

LANES = 8
PARAMETER_BYTES = 52
"""For each level and lane: logs in single precision, counts and five sets of parameters."""

POSTERIOR_BYTES = 12
"""For each row, model and state: in double precision, and a copy in single on the way."""

NODES_PER_VARIABLE = 64
"""Combinations of values that share a byte, per variable, at five levels or so."""


@dataclass(frozen=True)
class TableShape:
    """A table as it is encoded: `n_levels` of each feature, `n_text` columns that hold text.

    In those are `n_texts` different texts, column by column, of `text_bytes` in all.
    """

    n_rows: int
    n_levels: Sequence[int]
    n_classes: int
    n_text: int = 0
    n_texts: int = 0
    text_bytes: int = 0

    @property
    def n_features(self) -> int:
        """How many columns there are besides the target."""
        return len(self.n_levels)


def estimate_memory(shape: TableShape, config: SelectionConfig) -> int:
    """Bytes that a run needs at its peak, beyond what the process takes anyway."""
    raw = shape.n_rows * NUMBER_CELL * (shape.n_features + 1 - shape.n_text) + _texts(shape)
    codes = CODES_KEPT * shape.n_rows * (shape.n_features + 1)
    method = config.method
    work = _gsm(shape, method) if isinstance(method, GsmCpd) else RIVAL_ROW * shape.n_rows
    if config.evaluate is not None:
        codes += shape.n_rows * shape.n_features * (8 if config.evaluate.values == "raw" else 2)
    return raw + codes + work


def _texts(shape: TableShape) -> int:
    n_cells = shape.n_rows * shape.n_text
    read = min(n_cells, max(shape.n_rows, READ_AT_A_TIME))
    vocabulary = TEXT_BYTES * shape.n_texts + TEXT_COPIES * shape.text_bytes
    return TEXT_CELL * n_cells + READ_CELL * read + vocabulary


def _gsm(shape: TableShape, method: GsmCpd) -> int:
    rank = min(max(method.ranks), shape.n_rows)
    n_starts = max(method.n_init, method.n_models)
    fit = _bank(shape, method, n_starts, rank)
    fit += _bank(shape, method, max(method.n_models, n_starts // 2), rank)
    return max(fit, _search(shape, method, rank), _selection(shape, method, rank))


def _search(shape: TableShape, method: GsmCpd, rank: int) -> int:
    """What the folds of a sample of the rows keep: their tables, fits at every rank, and losses."""
    sample = replace(shape, n_rows=min(shape.n_rows, CROSS_ROWS))
    tables = FOLD_TABLES * sample.n_rows * (sample.n_features + 1)
    fold = tables + _bank(sample, method, 1, rank) + 8 * sum(shape.n_levels) * sum(method.ranks)
    return MAX_STRATEGIES * method.n_folds * fold + LOSS_BYTES * sample.n_rows


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
    factors = method.n_models * sum(shape.n_levels) * rank * 28
    n_configurations = min(method.n_configurations, prod(shape.n_levels))
    children = n_configurations * rank * max(shape.n_levels, default=1) * 8
    return factors + method.n_models * n_configurations * rank * 24 + children
