"""What a reader should know about the table before believing anything else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from core.arrays import Floats
from core.callbacks import CELLS_A_UNIT, OnWait, ignore, in_parts, listening
from core.data.codes import digests
from core.data.draws import weigh_classes
from core.data.edges import even_cuts
from core.data.fine import FineColumn
from core.data.recipe import SKEWED_SHARE, Recipe
from core.data.table import COLUMN_COST, DESCRIPTION_COST, Table
from core.results.selection import SelectionResult, TableWarning
from core.review.leaks import N_FOLDS, find_leaks

MISSING_SHARE = 0.9
CONSTANT_SHARE = 0.99


def look_for_warnings(
    table: Table,
    names: Sequence[str],
    classes: Sequence[str],
    recipe: Recipe,
    result: SelectionResult,
    on_wait: OnWait = ignore,
) -> tuple[TableWarning, ...]:
    """All there is to be warned of, each with the columns it is about."""
    held = list(table.held(on_wait))
    found = (
        *_leaks(table, names, recipe, result.target, on_wait),
        *_ids(result),
        *_copies(table, names, held, on_wait),
        *_thin(table, names, held, on_wait),
        *_skewed(table, result, held, on_wait),
        *_rare_classes(table, classes, result),
        *_few_rows(table, result.target),
    )
    return tuple(found)


def _leaks(
    table: Table, names: Sequence[str], recipe: Recipe, target: str, on_wait: OnWait
) -> Iterator[TableWarning]:
    """By the chosen cuts, which may run through a class, and by those where the label changes."""
    found = set(find_leaks(table, recipe, on_wait))
    if recipe.strategy != "supervised":
        found |= set(find_leaks(table, table.learn("supervised", on_wait), on_wait))
    leaks = tuple(names[n] for n in sorted(found))
    if leaks:
        message = (
            f"{_list(leaks)}{': each' if len(leaks) > 1 else ''} alone tells nearly all there is "
            f"to know about {target!r}, also on rows held out: is it known before the target is?"
        )
        yield TableWarning(code="leaks_target", columns=leaks, message=message)


def _ids(result: SelectionResult) -> Iterator[TableWarning]:
    ids = tuple(column.name for column in result.dropped if column.reason == "id_like")
    if ids:
        message = f"{_list(ids)}: hardly a value occurs more than a few times, as in an id."
        yield TableWarning(code="id_like", columns=ids, message=message)


def _copies(
    table: Table, names: Sequence[str], held: Sequence[Floats], on_wait: OnWait
) -> Iterator[TableWarning]:
    weights = [
        np.trim_zeros(of_column[:-1], "b").tobytes()
        for of_column in listening(held, on_wait, COLUMN_COST)
    ]
    often = Counter(weights)  # only columns whose levels weigh the same can be the same
    by_codes: dict[Hashable, list[str]] = {}
    suspects = np.array([n for n, weight in enumerate(weights) if often[weight] > 1], dtype=int)
    for part in in_parts(len(suspects), on_wait, _cost(table)):
        for n, digest in zip(suspects[part], digests(table.codes, suspects[part]), strict=True):
            by_codes.setdefault(digest, []).append(names[n])
    for alike in by_codes.values():
        if len(alike) > 1:
            message = f"{_list(alike)} say the same in every row."
            yield TableWarning(code="copy", columns=tuple(alike), message=message)


def _thin(
    table: Table, names: Sequence[str], held: Sequence[Floats], on_wait: OnWait
) -> Iterator[TableWarning]:
    total = table.total_weight
    missing, constant = [], []
    pairs = zip(names, held, strict=True)
    for name, of_column in listening(pairs, on_wait, COLUMN_COST):
        known = of_column[:-1]
        if known.sum() < (1 - MISSING_SHARE) * total:
            missing.append(name)
        elif known.max() > CONSTANT_SHARE * total:
            constant.append(name)
    if missing:
        message = f"{_list(missing)}: missing in more than {MISSING_SHARE:.0%} of the rows."
        yield TableWarning(code="mostly_missing", columns=tuple(missing), message=message)
    if constant:
        message = f"{_list(constant)}: one value in more than {CONSTANT_SHARE:.0%} of the rows."
        yield TableWarning(code="nearly_constant", columns=tuple(constant), message=message)


def _skewed(
    table: Table, result: SelectionResult, held: Sequence[Floats], on_wait: OnWait
) -> Iterator[TableWarning]:
    """Columns cut at equal widths though nearly all rows fall into one of the bins."""
    strategies = {column.name: column.strategy for column in result.encoding}
    pairs = zip(table.columns, held, strict=True)
    skewed = [
        column.name
        for column, of_it in listening(pairs, on_wait, COLUMN_COST)
        if strategies.get(column.name) == "uniform"
        and _fullest(column, of_it[:-1], table.discretize.bins) > SKEWED_SHARE
    ]
    if skewed:
        message = (
            f"{_list(skewed)}: more than {SKEWED_SHARE:.0%} of the rows lie in one bin of equal "
            "width, a few far from all others."
        )
        yield TableWarning(code="skewed", columns=tuple(skewed), message=message)


def _fullest(column: FineColumn, known: Floats, n_bins: int) -> float:
    """The share of the rows with a value that is in the fullest of the bins."""
    assert column.lowest is not None and column.highest is not None  # by its strategy
    used = np.flatnonzero(known)
    edges = even_cuts(column.lowest[used[0]], column.highest[used[-1]], n_bins)
    bins = np.searchsorted(edges, column.lowest[used], side="right")
    return float(np.bincount(bins, known[used]).max() / known.sum())


def _rare_classes(
    table: Table, classes: Sequence[str], result: SelectionResult
) -> Iterator[TableWarning]:
    n_folds = result.held_out.n_folds if result.held_out else N_FOLDS
    rows = weigh_classes(table.labels, None, len(classes))
    rare = [name for name, n in zip(classes, rows, strict=True) if 0 < n < n_folds]
    if rare:
        message = f"Of {_list(rare)} there are fewer rows than folds: little can be held out."
        yield TableWarning(code="rare_class", columns=(result.target,), message=message)


def _few_rows(table: Table, target: str) -> Iterator[TableWarning]:
    if table.n_rows < len(table.columns):
        message = f"There are fewer rows ({table.n_rows}) than columns ({len(table.columns)})."
        yield TableWarning(code="few_rows", columns=(target,), message=message)


def _cost(table: Table) -> float:
    """Units of work that a look at one column takes here."""
    return DESCRIPTION_COST + (0 if table.is_elsewhere else table.n_rows / CELLS_A_UNIT)


def _list(names: Sequence[str], most: int = 5) -> str:
    named = ", ".join(repr(name) for name in names[:most])
    return named if len(names) <= most else f"{named} and {len(names) - most} more"
