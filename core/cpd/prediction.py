"""How well models predict the label of rows they have not seen, with more and more features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.arrays import Bytes, Floats
from core.callbacks import CELLS_A_UNIT, OnWait, ignore, in_parts
from core.cpd._prediction_kernels import add_true_probability
from core.cpd.model import CpdFit


@dataclass(frozen=True)
class LabelModel:
    """States that explain features and the label.

    `weights` is P(z), (F,); `factors` P(x | z), (n_levels, F), of each feature; `label` P(y | z),
    (C, F).
    """

    weights: Floats
    factors: Sequence[Floats]
    label: Floats

    @classmethod
    def of(cls, fit: CpdFit) -> LabelModel:
        """What a fitted model says about the label."""
        return cls(fit.weights, fit.factors[:-1], fit.factors[-1])

    def only(self, order: Sequence[int]) -> LabelModel:
        """The same without the other features: leaving one out is leaving out its factor."""
        return LabelModel(self.weights, [self.factors[n] for n in order], self.label)


def held_out_losses(
    models: Sequence[LabelModel],
    order: Sequence[int],
    codes: Bytes,
    labels: Bytes,
    n_learnt: float,
    first: int = 0,
    on_wait: OnWait = ignore,
) -> Floats:
    """(n_rows, K + 1 - first) -log P(label | first k features of the order), k = first to K.

    Parameters
    ----------
    models : sequence of LabelModel
        Their distributions of the label are averaged.
    order : sequence of int
        Which feature of the models each column of `codes` is.
    codes : (n_rows, K) uint8
        A missing value, or a level that no factor has, tells nothing.
    labels : (n_rows,)
        The true classes.
    n_learnt : float
        How many rows the models learnt from: one more that could be of any class bounds the loss.
    first : int
        The first size of interest.
    on_wait : callable
        Called now and then; stops it by raising.

    """
    told = np.zeros((len(codes), len(order) + 1 - first))
    for model in models:
        factors = [model.factors[n] for n in order]
        starts = np.concatenate([[0], np.cumsum([len(f) for f in factors])]).astype(np.int64)
        levels = np.concatenate(factors) if factors else np.zeros((0, len(model.weights)))
        weights = model.weights / model.weights.sum()
        for part in in_parts(len(codes), on_wait, (len(order) + 1) * len(weights) / CELLS_A_UNIT):
            add_true_probability(
                weights, levels, starts, model.label, codes[part], labels[part], first, told[part]
            )
    n_classes = len(models[0].label)
    even = 1 / (n_learnt + 1)
    losses: Floats = -np.log((1 - even) * told / len(models) + even / n_classes)
    return losses
