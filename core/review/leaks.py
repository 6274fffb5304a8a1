"""Columns that alone tell nearly all there is to know about the label, also on rows held out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.special import entr

from core.arrays import Floats, Ints, Truths
from core.budgets import CROSS_ROWS
from core.callbacks import OnWait
from core.cpd.ladder import count_classes
from core.cpd.prediction import LabelModel, held_out_losses
from core.data.dealing import Dealt, deal_folds
from core.data.draws import draw_rows
from core.data.recipe import Recipe
from core.data.table import Table

LEAK_SHARE = 0.95
"""Of all there is to know about the label: a column that tells so much alone is too good."""

N_FOLDS = 5
SMOOTHING = 1.0


def find_leaks(table: Table, recipe: Recipe, on_wait: OnWait) -> tuple[int, ...]:
    """The columns too good to be true, by a recipe of all rows.

    What a column tells about the rows it was cut by is hardly ever less than about others: only
    columns that seem too good there are held against rows held out.
    """
    suspects = np.flatnonzero(_doubt_left(table, recipe) <= _tolerated(table))
    if not len(suspects):
        return ()
    few = table
    if table.n_rows > CROSS_ROWS:
        few = table.take(draw_rows(table.labels, CROSS_ROWS, table.seed))
    dealt = deal_folds(few, N_FOLDS, on_wait)
    told = _told_held_out(dealt, suspects, recipe, on_wait)
    enough = _entropy(dealt.table) - _tolerated(dealt.table)
    return tuple(suspects[told >= enough].tolist())


def _doubt_left(table: Table, recipe: Recipe) -> Floats:
    """(N,) H(label | column) as counted; where a column is unknown it tells nothing."""
    held = recipe.counts.sum(axis=1)
    doubt = held * entr(recipe.counts / np.maximum(held, 1e-300)[:, None]).sum(axis=1)
    known, left = (
        np.diff(np.concatenate([[0.0], np.cumsum(values)])[recipe.level_start])
        for values in (held, doubt)
    )
    total = table.total_weight
    in_doubt: Floats = (left + (total - known) * _entropy(table)) / total
    return in_doubt


def _tolerated(table: Table) -> float:
    return (1 - LEAK_SHARE) * _entropy(table)


def _entropy(table: Table) -> float:
    shares = table.class_weights / table.total_weight
    return float(entr(shares).sum())


def _told_held_out(dealt: Dealt, columns: Ints, recipe: Recipe, on_wait: OnWait) -> Floats:
    """What each of some columns tells, in nats a row, by counts of the rows of other folds."""
    table, folds = dealt.table, dealt.folds
    alone = replace(
        table,
        columns=tuple(table.columns[n] for n in columns),
        codes=np.ascontiguousarray(table.at_hand[columns]),
    )
    n_folds = int(folds.max()) + 1
    learnt = alone.learn_without_folds((recipe.strategy,), folds, n_folds, on_wait)
    told: Floats = np.zeros(len(columns))
    for fold in range(n_folds):
        told += list(_told_in(alone, learnt[recipe.strategy, fold], folds == fold, on_wait))
    told /= table.total_weight
    return told


def _told_in(table: Table, recipe: Recipe, held_out: Truths, on_wait: OnWait) -> Iterator[float]:
    """Of each column, over the rows of one fold."""
    test, weights = np.flatnonzero(held_out), np.where(held_out, 0, table.weights)
    classes = np.bincount(table.labels, weights, table.n_classes).astype(np.float64)
    counted = count_classes(recipe.counts, recipe.level_start, classes, SMOOTHING)
    model, codes = LabelModel.of(counted), table.encode(recipe, test)
    for n in range(len(table.columns)):
        one, labels = np.ascontiguousarray(codes[:, [n]]), table.labels[test]
        losses = held_out_losses([model], [n], one, labels, classes.sum(), on_wait=on_wait)
        yield float(((losses[:, 0] - losses[:, 1]) * table.weights[test]).sum())
