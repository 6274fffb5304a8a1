"""Which columns could stand in for each other, by what they tell about the label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.cluster.hierarchy import fcluster, leaves_list, linkage
from scipy.spatial.distance import squareform
from scipy.special import entr

from core.arrays import Floats, Ints
from core.cpd.model import CpdFit
from core.results.explanations import Alike, Join

MOST_COLUMNS = 40
"""As many as a reader can take in; the chosen ones, then those that tell most by themselves."""

MOST_LEVELS = 400
"""Of all of them together, so that what is joined costs next to nothing."""

SAME_GROUP = 0.5
"""The share of what they tell from which columns are said to be interchangeable."""


def find_alike(
    fits: Sequence[CpdFit], chosen: Sequence[int], others: Sequence[int], names: Sequence[str]
) -> Alike | None:
    """Join the chosen features and others, in the order of what they tell, by what they share."""
    features = _first_few(fits[0], [*chosen, *others])
    if len(features) < 2:
        return None
    shares = np.mean([_shares(fit, features) for fit in fits], axis=0)
    return _joined(shares, [names[f] for f in features])


def _joined(shares: Floats, names: Sequence[str]) -> Alike:
    tree = linkage(squareform(1 - shares, checks=False), "average")
    order = leaves_list(tree)
    columns = tuple(names[int(i)] for i in order)
    cluster = fcluster(tree, 1 - SAME_GROUP, "distance")[order]
    groups = (
        tuple(name for name, mine in zip(columns, cluster == one, strict=True) if mine)
        for one in dict.fromkeys(cluster)
    )
    return Alike(
        columns=columns,
        joins=_joins(tree, np.argsort(order)),
        groups=tuple(group for group in groups if len(group) > 1),
    )


def _joins(tree: Floats, places: Ints) -> tuple[Join, ...]:
    """The joins with columns by their place; SciPy numbers sets from the number of columns on."""
    numbers = [*places.tolist(), *range(len(places), 2 * len(places))]
    return tuple(
        Join(
            left=numbers[int(left)],
            right=numbers[int(right)],
            share=float(np.clip(1 - distance, 0.0, 1.0)),
        )
        for left, right, distance, _ in tree
    )


def _first_few(fit: CpdFit, features: Sequence[int]) -> Sequence[int]:
    n_levels = np.cumsum([len(fit.factors[f]) for f in features])
    return features[: min(MOST_COLUMNS, int(np.searchsorted(n_levels, MOST_LEVELS, "right")))]


def _shares(fit: CpdFit, features: Sequence[int]) -> Floats:
    """(n, n) I(Y; X_s) + I(Y; X_t) - I(Y; X_s, X_t), of the larger of the first two."""
    weights, label = fit.weights / fit.weights.sum(), fit.factors[-1]
    factors = [fit.factors[f] for f in features]
    everyone = np.concatenate(factors).T
    starts = np.cumsum([0, *(len(factor) for factor in factors)])[:-1]
    alone = np.array([_information((weights * factor) @ label.T) for factor in factors])
    shares = np.eye(len(factors))
    for s, factor in enumerate(factors):
        joint = (weights * factor)[:, None, :] * label  # (levels of s, C, F)
        pairs = joint @ everyone  # (levels of s, C, levels of everyone)
        together = _entropy(pairs.sum(axis=1), starts) - _entropy(pairs, starts)
        told = together + entr(pairs.sum(axis=(0, 2)) / len(factors)).sum()
        common = np.clip(alone[s] + alone - told, 0, np.minimum(alone[s], alone))
        shares[s] = common / np.maximum(np.maximum(alone[s], alone), 1e-12)
    np.fill_diagonal(shares, 1.0)
    symmetric: Floats = (shares + shares.T) / 2
    return symmetric


def _entropy(table: Floats, starts: Ints) -> Floats:
    """Of each part along the last axis."""
    cells = entr(np.maximum(table, 0)).reshape(-1, table.shape[-1]).sum(axis=0)
    sums: Floats = np.add.reduceat(cells, starts)
    return sums


def _information(table: Floats) -> float:
    """I(X; Y) of a joint distribution (levels, C)."""
    joint = entr(np.maximum(table, 0)).sum()
    return float(entr(table.sum(axis=0)).sum() + entr(table.sum(axis=1)).sum() - joint)
