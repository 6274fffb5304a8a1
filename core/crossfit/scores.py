"""How well held-out rows are predicted with the first K features, by every measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.arrays import Floats, Ints
from core.budgets import MOST_SCORED
from core.callbacks import OnWait
from core.cpd.label_curve import label_curve
from core.cpd.prediction import LabelModel
from core.crossfit.choice import wider
from core.data.recipe import Recipe
from core.data.table import Table
from core.results.measures import Measure
from core.results.selection import HeldOutScore
from core.scores import baseline_scores

MEASURES: tuple[Measure, ...] = ("accuracy", "balanced_accuracy", "auc")

FoldScores = dict[Measure, Floats]
"""Of one fold, (K + 2,): without features, with the first 1, 2, ..., K of them, and with all."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Rows that were held out, the others, and how those have all of them encoded."""

    table: Table
    recipe: Recipe
    train: Ints
    test: Ints
    on_wait: OnWait

    def score(self, models: Sequence[LabelModel], order: Sequence[int]) -> FoldScores:
        """What models of the other rows predict along an order of features."""
        labels, weights = self.table.labels, self.table.weights
        without = baseline_scores(
            labels[self.train],
            labels[self.test],
            weights[self.train],
            weights[self.test],
            self.table.n_classes,
        )
        first = self._curve(models, order[:MOST_SCORED])
        everything = self._curve(models, everyone := self.table.usable, [len(everyone)])
        return {
            measure: np.array(
                [
                    without[measure],
                    *first.get(measure, ()),
                    *everything.get(measure, [without[measure]]),
                ]
            )
            for measure in MEASURES
        }

    def _curve(
        self,
        models: Sequence[LabelModel],
        order: Sequence[int],
        stops: Sequence[int] | None = None,
    ) -> dict[Measure, list[float]]:
        codes = self.table.encode(self.recipe, self.test, np.array(order, dtype=np.int64))
        restricted = [model.only(order) for model in models]
        labels, weights = self.table.labels[self.test], self.table.weights[self.test]
        return label_curve(restricted, codes, labels, weights, stops=stops, on_wait=self.on_wait)


def summarise(folds: Sequence[FoldScores]) -> tuple[HeldOutScore, ...]:
    """Mean and standard error over the folds; their models share most of their rows."""
    return tuple(_summarise(measure, folds) for measure in MEASURES)


def _summarise(measure: Measure, folds: Sequence[FoldScores]) -> HeldOutScore:
    table = np.array([fold[measure] for fold in folds])
    means = table.mean(axis=0).tolist()
    spread = table.std(axis=0, ddof=1) if len(folds) > 1 else np.zeros(table.shape[1])
    errors = (wider(len(folds)) * spread / np.sqrt(len(folds))).tolist()
    return HeldOutScore(
        measure=measure,
        values=tuple(means[:-1]),
        standard_error=tuple(errors[:-1]),
        all_features=means[-1],
        all_features_se=errors[-1],
    )
