"""From named columns to a coded problem: checks with sentences, encoding, and what takes part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np

from core import budgets
from core.arrays import MISSING, Bytes, Floats, Ints
from core.blocks.engine import MEMORY, Engine
from core.callbacks import listening
from core.config import SelectionConfig
from core.data.cuts import speaks_by_gaps
from core.data.deferred import Deferred
from core.data.draws import weigh_classes
from core.data.encoding import CodedColumn, encode_column
from core.data.fine import FineColumn, fine_column
from core.data.sources import Origin, Source, some_of
from core.data.table import Table
from core.data.texts import Column, Texts
from core.data.values import as_column, rows_of
from core.errors import InvalidConfig, InvalidData
from core.names import check_k, check_names
from core.results.selection import Dropped, EncodedColumn

NAMED = 5
"""In a note, how many columns are named; the encoding says it of each."""

FINE_COST = 256
"""Units of work that it takes at least to learn the levels of a column, however few its rows."""

SORTED_A_UNIT = 32
"""Rows of a column that are sorted in a unit of work."""

MAX_WEIGHT = 1e15
"""Of all rows together: counts up to here are added without losing one."""

LIGHT = 0.1
"""Mean weight of a row below which it seems to be a share rather than a count."""

GLANCE = 1000
"""Rows, of which mostly two differ already."""


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


def prepare(
    columns: Mapping[str, Column],
    target: str,
    config: SelectionConfig,
    on_column: Callable[[float], None],
    engine: Engine = MEMORY,
    origin: Origin | None = None,
) -> Prepared:
    """Check everything that can be checked before work begins, and encode finely.

    Columns are looked at one by one, once each; their codes lie where the engine has room. By
    `origin`, if there is one, processes elsewhere find the same columns.
    """
    n_rows = _check_table(columns, target, config)
    weights = _weights(columns, config.weight_column)
    label = encode_column(target, columns[target], config.discretize, weights, is_target=True)
    rows = _rows_to_use(target, label, weights)
    labels = label.codes if rows is None else label.codes[rows]
    taught = _only_of(rows, n_rows, weights)
    excluded = set(config.columns.exclude)
    others = {target, config.weight_column, *excluded}
    searched = {name: values for name, values in columns.items() if name not in others}
    kept: list[FineColumn] = []
    room = engine.room(len(searched), len(labels))
    dropped = [Dropped(name=name, reason="excluded") for name in columns if name in excluded]

    def on_place() -> None:
        on_column((len(kept) + len(dropped) - len(excluded)) / len(searched))

    cost = FINE_COST + n_rows / SORTED_A_UNIT
    for name, values in listening(searched.items(), on_place, cost):
        column, codes = fine_column(name, values, config.discretize, taught, on_wait=on_place)
        codes = codes if rows is None else codes[rows]
        why = _why_useless(codes, labels, config.discretize.missing, len(searched))
        if why == "constant" and column.n_merged:
            why = "id_like"
        if why is None:
            room[len(kept)] = codes
            kept.append(column)
        else:
            dropped.append(Dropped(name=name, reason=why))
    useless = {column.name: column.reason for column in dropped}
    names = tuple(column.name for column in kept)
    included, candidates = _taking_part(names, useless, config)
    check_k(config, len(set(included) | set(candidates)))
    used = slice(None) if rows is None else rows
    table = Table(
        columns=tuple(kept),
        codes=room[: len(kept)],
        labels=labels,
        n_classes=label.n_levels,
        discretize=config.discretize,
        row_weights=None if weights is None else weights[used],
        included=included,
        candidates=candidates,
        seed=config.seed,
        n_threads=config.n_threads,
        engine=engine,
        source=_source(origin, kept, searched, rows),
    )
    n_left_out = n_rows - len(labels)
    notes = (*_notes(n_left_out, target, [*kept, label.learnt]), *_of_weights(table))
    return Prepared(names, table, used, label.learnt, tuple(dropped), notes)


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


def _source(
    origin: Origin | None,
    kept: Sequence[FineColumn],
    columns: Mapping[str, Column],
    rows: Ints | None,
) -> Source | None:
    if origin is None:
        return None
    deferred = {name: values for name, values in columns.items() if isinstance(values, Deferred)}
    parts = {name: values.part for name, values in deferred.items() if values.part is not None}
    source = origin.source(kept, parts)
    return source if rows is None else some_of(source, rows)


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


def _rows_to_use(target: str, label: CodedColumn, weights: Floats | None) -> Ints | None:
    """Those that have a label and a weight; None where all do."""
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
    return None if used.all() else np.flatnonzero(used)


def _only_of(rows: Ints | None, n_rows: int, weights: Floats | None) -> Floats | None:
    """Weights by which columns are learnt: none for rows that take no part."""
    if rows is None:
        return weights
    taught = np.zeros(n_rows)
    taught[rows] = 1.0 if weights is None else weights[rows]
    return taught


def _why_useless(
    codes: Bytes, labels: Bytes, missing: str, n_columns: int
) -> Literal["constant", "all_missing", "id_like"] | None:
    """Why a column cannot inform; only the rows that take part count, and gaps that speak do."""
    n_used = 0
    for part in (codes[:GLANCE], codes):
        n_used = int(np.count_nonzero(weigh_classes(part, None, MISSING + 1)[:MISSING]))
        if n_used > 1:
            return None
    if n_used == 0:
        return "all_missing"
    if speaks_by_gaps(labels, codes != MISSING, missing, n_columns):
        return None
    return "constant"


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
