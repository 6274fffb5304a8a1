"""From named columns to a coded problem: checks with sentences, encoding, and what takes part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np

from core.arrays import MISSING, Bytes, Floats, Ints
from core.config import SelectionConfig
from core.data.encoding import CodedColumn, as_column, encode_column, encode_columns
from core.data.problem import CodedProblem
from core.data.texts import Column, Texts
from core.errors import InvalidConfig, InvalidData
from core.names import check_k, check_names
from core.results import Dropped, EncodedColumn

NAMED = 5
"""In a note, how many columns are named; the encoding says it of each."""

MAX_WEIGHT = 1e15
"""Of all rows together: counts up to here are added without losing one."""


@dataclass(frozen=True)
class Prepared:
    """A coded problem over `names`, and what was learnt and left aside on the way to it."""

    names: tuple[str, ...]
    problem: CodedProblem
    rows: Ints
    encoding: tuple[EncodedColumn, ...]
    dropped: tuple[Dropped, ...]
    notes: tuple[str, ...]


def prepare(
    columns: Mapping[str, Column],
    target: str,
    config: SelectionConfig,
    on_column: Callable[[float], None],
) -> Prepared:
    """Check everything that can be checked before work begins, and encode."""
    n_rows = _check_table(columns, target, config)
    weights = _weights(columns, config.weight_column)
    label = encode_column(target, columns[target], config.discretize, weights, is_target=True)
    rows = _rows_to_use(target, label, weights)
    others = {target, config.weight_column, *config.columns.exclude}
    searched = {name: values for name, values in columns.items() if name not in others}
    coded = encode_columns(searched, config.discretize, weights, on_column)
    useless = {name: _why_useless(column.codes[rows]) for name, column in coded.items()}
    names = tuple(name for name, why in useless.items() if why is None)
    included, candidates = _taking_part(names, useless, config)
    problem = CodedProblem(
        codes=_code_table([coded[name] for name in names], rows),
        n_levels=np.array([coded[name].n_levels for name in names], dtype=np.int64),
        labels=label.codes[rows],
        n_classes=label.n_levels,
        row_weights=None if weights is None else weights[rows],
        included=included,
        candidates=candidates,
        seed=config.seed,
        n_threads=config.n_threads,
    )
    check_k(config, len(set(included) | set(candidates)))
    excluded = set(config.columns.exclude)
    dropped = [Dropped(name=name, reason="excluded") for name in columns if name in excluded]
    dropped += [Dropped(name=name, reason=why) for name, why in useless.items() if why is not None]
    encoding = tuple(coded[name].learnt for name in names)
    notes = _notes(n_rows, rows, target, [*encoding, label.learnt])
    return Prepared(names, problem, rows, (*encoding, label.learnt), tuple(dropped), notes)


def _check_table(columns: Mapping[str, Column], target: str, config: SelectionConfig) -> int:
    for name in columns:
        if not isinstance(name, str):
            raise InvalidData(f"column names must be strings, not {name!r}", str(name))
    check_names(columns, target, config)
    used = columns.keys() - set(config.columns.exclude)
    lengths = {name: len(as_column(name, columns[name])) for name in columns if name in used}
    if lengths[target] == 0:
        raise InvalidData("the data has no rows", target)
    for name, length in lengths.items():
        if length != lengths[target]:
            raise InvalidData(
                f"column {name!r} has {length} rows, the target has {lengths[target]}", name
            )
    return lengths[target]


def _weights(columns: Mapping[str, Column], name: str | None) -> Floats | None:
    if name is None:
        return None
    column = as_column(name, columns[name])
    try:
        if isinstance(column, Texts):
            raise TypeError
        weights: Floats = column.astype(np.float64).filled(np.nan)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"weight column {name!r} does not hold numbers", name) from error
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
    return weights


def _rows_to_use(target: str, label: CodedColumn, weights: Floats | None) -> Ints:
    known = label.codes != MISSING
    if not known.any():
        raise InvalidData(f"target {target!r} is missing in every row", target)
    used = known if weights is None else known & (weights > 0)
    if not used.any():
        raise InvalidData(f"no row has both a value of {target!r} and a weight above zero", target)
    if len(np.unique(label.codes[used])) < 2:
        raise InvalidData(
            f"target {target!r} is constant: there is nothing to inform about", target
        )
    return np.flatnonzero(used)


def _why_useless(codes: Bytes) -> Literal["constant", "all_missing"] | None:
    """Why a column cannot inform; only the rows that take part count."""
    n_used = len(np.unique(codes[codes != MISSING]))
    if n_used == 0:
        return "all_missing"
    return "constant" if n_used == 1 else None


def _taking_part(
    names: tuple[str, ...], useless: Mapping[str, str | None], config: SelectionConfig
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


def _code_table(features: list[CodedColumn], rows: Ints) -> Bytes:
    codes = np.empty((len(rows), len(features)), dtype=np.uint8)
    for n, column in enumerate(features):
        codes[:, n] = column.codes[rows]
    return codes


def _notes(n_rows: int, rows: Ints, target: str, learnt: list[EncodedColumn]) -> tuple[str, ...]:
    notes = []
    if len(rows) < n_rows:
        notes.append(
            f"{n_rows - len(rows)} rows without {target!r} or without weight were left out."
        )
    merged = {column.name: column.n_merged for column in learnt if column.n_merged}
    if merged:
        notes.append(f"The rarest of too many levels were merged: {_name_few(merged)}.")
    infinite = {column.name: column.n_infinite for column in learnt if column.n_infinite}
    if infinite:
        notes.append(f"Infinite values were taken as missing: {_name_few(infinite)}.")
    return tuple(notes)


def _name_few(counts: Mapping[str, int]) -> str:
    named = [f"{n} of {name!r}" for name, n in islice(counts.items(), NAMED)]
    others = len(counts) - len(named)
    return ", ".join(named) + (f" and some of {others} other columns" if others else "")
