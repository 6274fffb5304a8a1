"""From named columns to a coded problem: checks with sentences, encoding, and what takes part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from core import budgets
from core.arrays import MISSING, Floats, Ints
from core.blocks.engine import MEMORY, Engine
from core.callbacks import OnFraction, OnWait, ignore
from core.config import Method, SelectionConfig
from core.data.deferred import Deferred
from core.data.draws import weigh_classes
from core.data.encoded import Encoded, Rows, encode_here, encode_there
from core.data.encoding import CodedColumn, encode_column
from core.data.fine import FineColumn
from core.data.learning import Stored, Taught, look_there
from core.data.sources import Origin, Source
from core.data.table import Table
from core.data.texts import Column, Texts
from core.data.unfolding import Unfolded, unfold_times
from core.data.values import as_column, rows_of
from core.errors import InvalidConfig, InvalidData
from core.names import check_k, check_names
from core.results.selection import Dropped, EncodedColumn

NAMED = 5
"""In a note, how many columns are named; the encoding says it of each."""

MAX_WEIGHT = 1e15
"""Of all rows together: counts up to here are added without losing one."""

LIGHT = 0.1
"""Mean weight of a row below which it seems to be a share rather than a count."""


@dataclass(frozen=True)
class Prepared:
    """A table over `names`, and what was learnt and left aside on the way to it.

    `rows` are those of the caller's that take part, mostly all; `label` is how the target was
    encoded.
    """

    names: tuple[str, ...]
    table: Table
    rows: Ints | slice
    label: EncodedColumn
    dropped: tuple[Dropped, ...]
    notes: tuple[str, ...]

    def at_hand(self) -> Prepared:
        """The same with its codes here, in memory or in files, whatever ends elsewhere."""
        return replace(self, table=self.table.brought_here())


def unfold(
    columns: Mapping[str, Column],
    target: str,
    config: SelectionConfig,
    beside: Sequence[Method] = (),
    engine: Engine = MEMORY,
    origin: Origin | None = None,
    on_wait: OnWait = ignore,
) -> Unfolded:
    """Columns without times; those of a large table that has an origin are looked at elsewhere."""
    values = columns.get(target)
    if origin is None or not isinstance(values, Deferred):
        return unfold_times(columns, target, config, beside)
    if not budgets.is_spread(len(values), len(columns)):
        return unfold_times(columns, target, config, beside)
    look = partial(look_there, origin=origin, engine=engine, on_wait=on_wait)
    return unfold_times(columns, target, config, beside, look)


def prepare(
    columns: Mapping[str, Column],
    target: str,
    config: SelectionConfig,
    on_column: OnFraction,
    engine: Engine = MEMORY,
    origin: Origin | None = None,
) -> Prepared:
    """Check everything that can be checked before work begins, and encode finely.

    Columns are looked at one by one, once each; their codes lie where the engine has room. By
    `origin`, if there is one, processes elsewhere find the same columns.
    """
    return _Asked.of(columns, target, config).here(on_column, engine, origin)


@contextmanager
def preparing(
    columns: Mapping[str, Column],
    target: str,
    config: SelectionConfig,
    on_column: OnFraction,
    engine: Engine = MEMORY,
    origin: Origin | None = None,
    on_wait: OnWait = ignore,
) -> Iterator[Prepared]:
    """The same; a large table that has an origin is encoded, and lies, elsewhere.

    It does as long as the context lasts, and `on_wait` is called whenever something about it is
    waited for.
    """
    asked = _Asked.of(columns, target, config)
    if origin is None or not asked.is_spread:
        yield asked.here(on_column, engine, origin)
        return
    taught = Taught(Stored.of(target, columns[target]), config.weight_column)
    there = encode_there(
        asked.searched, asked.rows, taught, config.discretize, engine, origin, on_wait, on_column
    )
    with there as encoded:
        yield asked.prepared(encoded, engine, origin)


@dataclass(frozen=True, eq=False)
class _Asked:
    """What is searched, and by which rows; the target as it was encoded."""

    target: str
    config: SelectionConfig
    searched: Mapping[str, Column]
    excluded: Sequence[str]
    rows: Rows
    label: CodedColumn
    n_rows: int

    @classmethod
    def of(cls, columns: Mapping[str, Column], target: str, config: SelectionConfig) -> _Asked:
        """All that can be said before the columns are looked at."""
        n_rows = _check_table(columns, target, config)
        weights = _weights(columns, config.weight_column)
        label = encode_column(target, columns[target], config.discretize, weights, is_target=True)
        excluded = [name for name in columns if name in set(config.columns.exclude)]
        others = {target, config.weight_column, *excluded}
        searched = {name: values for name, values in columns.items() if name not in others}
        rows = _rows_to_use(target, label, weights)
        return cls(target, config, searched, excluded, rows, label, n_rows)

    @property
    def is_spread(self) -> bool:
        """Whether the table is so large that its rows are cut."""
        return budgets.is_spread(len(self.rows.labels), len(self.searched))

    def _source(self, origin: Origin, columns: Sequence[FineColumn]) -> Source:
        return self.rows.source(origin, columns, self.searched)

    def here(self, on_column: OnFraction, engine: Engine, origin: Origin | None) -> Prepared:
        """Encoded by this process."""
        cut, rows = self.config.discretize, self.rows
        encoded = encode_here(self.searched, rows, cut, engine, on_column)
        return self.prepared(encoded, engine, origin)

    def prepared(self, encoded: Encoded, engine: Engine, origin: Origin | None) -> Prepared:
        """The table of what was encoded, and what is to be said about it."""
        config, rows = self.config, self.rows
        dropped = [Dropped(name=name, reason="excluded") for name in self.excluded]
        dropped += encoded.useless
        names = tuple(column.name for column in encoded.columns)
        useless = {column.name: column.reason for column in dropped}
        included, candidates = _taking_part(names, useless, config)
        check_k(config, len(set(included) | set(candidates)))
        table = Table(
            columns=encoded.columns,
            codes=encoded.codes,
            labels=rows.labels,
            n_classes=self.label.n_levels,
            discretize=config.discretize,
            row_weights=rows.weights,
            included=included,
            candidates=candidates,
            seed=config.seed,
            n_threads=config.n_threads,
            engine=engine,
            source=None if origin is None else self._source(origin, encoded.columns),
        )
        learnt: tuple[FineColumn | EncodedColumn, ...] = (*encoded.columns, self.label.learnt)
        notes = (*_notes(self.n_rows - table.n_rows, self.target, learnt), *_of_weights(table))
        used = slice(None) if rows.places is None else rows.places
        return Prepared(names, table, used, self.label.learnt, tuple(dropped), notes)


def _check_table(columns: Mapping[str, Column], target: str, config: SelectionConfig) -> int:
    for name in columns:
        if not isinstance(name, str):
            raise InvalidData(f"column names must be strings, not {name!r}", str(name))
    check_names(columns, target, config)
    used = columns.keys() - set(config.columns.exclude)
    lengths = {name: _length(name, columns[name]) for name in columns if name in used}
    if lengths[target] == 0:
        raise InvalidData("the data has no rows", target)
    for name, length in lengths.items():
        if length != lengths[target]:
            raise InvalidData(
                f"column {name!r} has {length} rows, the target has {lengths[target]}", name
            )
    return lengths[target]


def _length(name: str, values: Column) -> int:
    return len(values if isinstance(values, Deferred) else as_column(name, values))


def _weights(columns: Mapping[str, Column], name: str | None) -> Floats | None:
    if name is None:
        return None
    values = columns[name]
    column = values if isinstance(values, Deferred) else as_column(name, values)
    weights = np.empty(len(column))
    for first, last, rows in rows_of(column, budgets.HELD_ROWS):
        weights[first:last] = _as_weights(name, as_column(name, rows))
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InvalidData(
            f"weight column {name!r} holds missing, infinite or negative values", name
        )
    if weights.sum() > MAX_WEIGHT:
        raise InvalidData(
            f"weight column {name!r} sums to {weights.sum():.1e}; weights are counts of rows, and "
            f"together at most {MAX_WEIGHT:.0e}",
            name,
        )
    if not weights.any():
        raise InvalidData(f"weight column {name!r} is zero in every row", name)
    return weights


def _as_weights(name: str, rows: Any) -> Floats:
    try:
        if isinstance(rows, Texts) or rows.dtype.kind == "M":
            raise TypeError
        weights: Floats = np.ma.filled(rows.astype(np.float64), np.nan)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"weight column {name!r} does not hold numbers", name) from error
    return weights


def _rows_to_use(target: str, label: CodedColumn, weights: Floats | None) -> Rows:
    """Those that have a label and a weight."""
    known = label.codes != MISSING
    if not known.any():
        raise InvalidData(f"target {target!r} is missing in every row", target)
    used = known if weights is None else known & (weights > 0)
    if not used.any():
        raise InvalidData(f"no row has both a value of {target!r} and a weight above zero", target)
    if np.count_nonzero(weigh_classes(label.codes, used, MISSING + 1)) < 2:
        raise InvalidData(
            f"target {target!r} is constant: there is nothing to inform about", target
        )
    if used.all():
        return Rows(label.codes, weights, None, weights)
    places = np.flatnonzero(used)
    own = None if weights is None else weights[places]
    taught = used.astype(np.float64) if weights is None else np.where(used, weights, 0.0)
    return Rows(label.codes[places], own, places, taught)


def _taking_part(
    names: tuple[str, ...], useless: Mapping[str, str], config: SelectionConfig
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    place = {name: i for i, name in enumerate(names)}
    for name in config.columns.include:
        if name not in place:
            raise InvalidConfig(
                f"column {name!r} is to be included but is {useless[name]}", "columns.include"
            )
    wanted = place.keys() if config.columns.candidates is None else set(config.columns.candidates)
    candidates = tuple(i for name, i in place.items() if name in wanted)
    if not candidates and not config.columns.include:
        raise InvalidData(
            "no usable feature is left: all are constant, missing or excluded", "columns"
        )
    return tuple(place[name] for name in config.columns.include), candidates


def _notes(
    n_left_out: int, target: str, learnt: Sequence[FineColumn | EncodedColumn]
) -> tuple[str, ...]:
    notes = []
    if n_left_out:
        notes.append(f"{n_left_out} rows without {target!r} or without weight were left out.")
    merged = {column.name: column.n_merged for column in learnt if column.n_merged}
    if merged:
        notes.append(f"The rarest of many levels were merged: {_name_few(merged)}.")
    infinite = {column.name: column.n_infinite for column in learnt if column.n_infinite}
    if infinite:
        notes.append(f"Infinite values were taken as missing: {_name_few(infinite)}.")
    return tuple(notes)


def _of_weights(table: Table) -> tuple[str, ...]:
    if (total := table.total_weight) >= LIGHT * table.n_rows:
        return ()
    return (
        f"The weights of {table.n_rows:,} rows sum to {total:.3g}: they are taken for counts of "
        "rows, of which so few tell hardly anything for sure.",
    )


def _name_few(counts: Mapping[str, int]) -> str:
    named = [f"{n} of {name!r}" for name, n in islice(counts.items(), NAMED)]
    others = len(counts) - len(named)
    return ", ".join(named) + (f" and some of {others} other columns" if others else "")
