"""All columns of a table as fine codes: made here, or by processes that read them elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from core import budgets
from core.arrays import MISSING, Bytes, Floats, Ints
from core.blocks.engine import Engine
from core.callbacks import OnFraction, OnWait, listening, part
from core.config import Discretize
from core.data.codes import Codes, FineMaker, InBlocks, in_views, rows_of_fine_block
from core.data.cuts import speaks_by_gaps
from core.data.draws import weigh_classes
from core.data.fine import FineColumn, fine_column
from core.data.learning import Learner, Stored, Taught, learn_there
from core.data.sources import Origin, Source, some_of, whole_of
from core.data.stretches import cut
from core.data.texts import Column
from core.results.selection import Dropped

FINE_COST = 256
"""Units of work that it takes at least to learn the levels of a column, however few its rows."""

SORTED_A_UNIT = 32
"""Rows of a column that are sorted in a unit of work."""

GLANCE = 1000
"""Rows, of which mostly two differ already."""

COUNTS_AT_A_TIME = 2**21
"""Of levels by class that blocks are asked for: 16 MB."""

Why = Literal["constant", "all_missing", "id_like"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Which rows of a table take part: their labels, weights or None, and places, None for all.

    `taught` is what each of all rows weighs while columns are learnt; None where that is the same.
    """

    labels: Bytes
    weights: Floats | None
    places: Ints | None
    taught: Floats | None

    def source(
        self,
        origin: Origin,
        columns: Sequence[FineColumn],
        asked: Mapping[str, Column],
        *,
        is_held: bool = False,
    ) -> Source:
        """Where processes elsewhere find their codes."""
        stored = (Stored.of(name, values) for name, values in asked.items())
        parts = {one.name: one.part for one in stored if one.part is not None}
        source = origin.source(columns, parts, is_held=is_held)
        return source if self.places is None else some_of(source, self.places)


@dataclass(frozen=True, eq=False)
class Encoded:
    """The columns that can inform and their codes, and why each other one cannot."""

    columns: tuple[FineColumn, ...]
    codes: Codes
    useless: tuple[Dropped, ...]


def encode_here(
    columns: Mapping[str, Column],
    rows: Rows,
    discretize: Discretize,
    engine: Engine,
    on_done: OnFraction,
) -> Encoded:
    """One column after the other, once each; their codes lie where the engine has room."""
    kept: list[FineColumn] = []
    useless: list[Dropped] = []
    room = engine.room(len(columns), len(rows.labels))

    def on_place() -> None:
        on_done((len(kept) + len(useless)) / len(columns))

    n_rows = len(rows.labels) if rows.taught is None else len(rows.taught)
    cost = FINE_COST + n_rows / SORTED_A_UNIT
    for name, values in listening(columns.items(), on_place, cost):
        column, codes = fine_column(name, values, discretize, rows.taught, on_wait=on_place)
        codes = codes if rows.places is None else codes[rows.places]
        why = _why_useless(column, codes, rows.labels, discretize.missing, len(columns))
        if why is None:
            room[len(kept)] = codes
            kept.append(column)
        else:
            useless.append(Dropped(name=name, reason=why))
    codes = room[: len(kept)]
    if rows.weights is None or not budgets.is_spread(len(rows.labels), len(columns)):
        return Encoded(tuple(kept), codes, tuple(useless))
    blocks = in_views(codes, rows.labels, rows.weights, rows_of_fine_block(len(columns)))
    return Encoded(tuple(kept), blocks, tuple(useless))


@contextmanager
def encode_there(
    columns: Mapping[str, Column],
    rows: Rows,
    taught: Taught,
    discretize: Discretize,
    engine: Engine,
    origin: Origin,
    on_wait: OnWait,
    on_done: OnFraction,
) -> Iterator[Encoded]:
    """By whoever holds blocks: they learn some columns each, then hold the codes of some rows."""
    learner = Learner(origin, discretize, None if rows.taught is None else taught)
    stored = [Stored.of(name, values) for name, values in columns.items()]
    n_rows = len(rows.labels) if rows.taught is None else len(rows.taught)
    learnt = learn_there(learner, stored, n_rows, engine, on_wait, part(on_done, 0, 2))
    source = rows.source(origin, learnt, columns, is_held=True)
    n_of_block = rows_of_fine_block(len(columns))
    stretches = cut(rows.labels, rows.weights, n_of_block, source)
    with engine.spread(FineMaker(whole_of(source)), stretches, on_wait) as blocks:
        codes = InBlocks(blocks, np.arange(len(learnt)), len(rows.labels), n_of_block)
        reasons = list(
            _reasons(learnt, codes, rows.labels, discretize.missing, part(on_done, 1, 2))
        )
        kept = np.array([n for n, why in enumerate(reasons) if why is None], dtype=np.int64)
        yield Encoded(
            tuple(learnt[n] for n in kept),
            codes.of(kept),
            tuple(
                Dropped(name=column.name, reason=why)
                for column, why in zip(learnt, reasons, strict=True)
                if why is not None
            ),
        )


def _reasons(
    columns: Sequence[FineColumn], codes: InBlocks, labels: Bytes, missing: str, on_done: OnFraction
) -> Iterator[Why | None]:
    """Why each column cannot inform, by how many rows of each class have each of its levels."""
    n_classes = int(labels.max()) + 1
    step = max(1, COUNTS_AT_A_TIME // (n_classes * (MISSING + 1)))
    for first in range(0, len(columns), step):
        on_done(first / len(columns))
        some = columns[first : first + step]
        start = np.cumsum([0, *(column.n_levels + 1 for column in some)], dtype=np.int64)
        counts = codes.of(slice(first, first + step)).count(start, n_classes, once=True)
        for column, (begin, end) in zip(some, pairwise(start.tolist()), strict=True):
            held = counts[begin:end]
            n_used = int(np.count_nonzero(held[:-1].any(axis=1)))
            gaps = np.array([held[:-1].sum(axis=0), held[-1]])
            yield _why(column, n_used, gaps, missing, len(columns))
    on_done(1.0)


def _why_useless(
    column: FineColumn, codes: Bytes, labels: Bytes, missing: str, n_columns: int
) -> Why | None:
    """By the codes of the rows that take part, of which a few mostly tell it."""
    n_used = 0
    for some in (codes[:GLANCE], codes):
        n_used = int(np.count_nonzero(weigh_classes(some, None, MISSING + 1)[:MISSING]))
        if n_used > 1:
            return None
    known, n_classes = codes != MISSING, int(labels.max()) + 1
    gaps = [np.bincount(labels[some], minlength=n_classes) for some in (known, ~known)]
    return _why(column, n_used, np.array(gaps, dtype=np.float64), missing, n_columns)


def _why(column: FineColumn, n_used: int, gaps: Floats, missing: str, n_columns: int) -> Why | None:
    """Why a column with so many different values cannot inform; gaps that speak do.

    gaps : (2, C) rows of each class that have a value, and that have none.
    """
    if n_used > 1:
        return None
    if n_used == 0:
        return "all_missing"
    if speaks_by_gaps(gaps, missing, n_columns):
        return None
    return "id_like" if column.n_merged else "constant"
