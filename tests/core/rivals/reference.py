"""The slow twins: every rival from its definition, by dictionaries, subsets and whole matrices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import combinations
from math import log, prod

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from core.data.problem import CodedProblem

MISSING = 255
TIE = 1e-10

Order = list[tuple[int, float]]


def entropy(problem: CodedProblem, variables: Iterable[int | str], rows: list[int]) -> float:
    """Plug-in entropy of features and, as 'y', the label, over some rows."""
    names = list(variables)
    weight: Counter[tuple[int, ...]] = Counter()
    for row in rows:
        weight[tuple(_value(problem, row, name) for name in names)] += problem.weights[row]
    total = sum(weight.values())
    return -sum(w / total * log(w / total) for w in weight.values() if w > 0)


def present(problem: CodedProblem, features: Iterable[int]) -> list[int]:
    wanted = list(features)
    return [r for r in range(problem.n_rows) if np.all(problem.codes[r, wanted] != MISSING)]


def information(
    problem: CodedProblem, xs: set[int], ys: set[int | str], given: frozenset[int] = frozenset()
) -> float:
    """I(X;Y|Z) over the rows where all of them are present."""
    rows = present(problem, [v for v in {*xs, *ys, *given} if v != "y"])  # type: ignore[misc]
    if not rows:
        return 0.0

    def h(*sets: set[int] | set[int | str] | frozenset[int]) -> float:
        return entropy(problem, sorted(set().union(*sets), key=str), rows)

    return h(xs, given) + h(ys, given) - h(xs, ys, given) - h(given)


def by_chance(
    problem: CodedProblem, xs: set[int], ys: set[int | str], given: frozenset[int] = frozenset()
) -> float:
    """Half the degrees of freedom of I(X;Y|Z) that occur, for each row."""
    rows = present(problem, [v for v in {*xs, *ys, *given} if v != "y"])  # type: ignore[misc]
    rows = [row for row in rows if problem.weights[row] > 0]
    if not rows:
        return 0.0
    seen: dict[tuple[int, ...], tuple[set[tuple[int, ...]], set[tuple[int, ...]]]] = {}
    for row in rows:
        z, x, y = (tuple(_value(problem, row, v) for v in part) for part in (given, xs, ys))
        with_x, with_y = seen.setdefault(z, (set(), set()))
        with_x.add(x)
        with_y.add(y)
    freedom = sum((len(x) - 1) * (len(y) - 1) for x, y in seen.values())
    total = sum(problem.weights[row] for row in rows)
    return float(freedom / (2 * total))


def mrmr(problem: CodedProblem, chosen: list[int], i: int) -> float:
    redundancy = [information(problem, {i}, {s}) for s in chosen]
    return information(problem, {i}, {"y"}) - (float(np.mean(redundancy)) if chosen else 0.0)


def jmi(problem: CodedProblem, chosen: list[int], i: int) -> float:
    pairs = [information(problem, {i, s}, {"y"}) for s in chosen]
    return sum(pairs) if chosen else information(problem, {i}, {"y"})


def jmim(problem: CodedProblem, chosen: list[int], i: int) -> float:
    pairs = [information(problem, {i, s}, {"y"}) for s in chosen]
    return min(pairs) if chosen else information(problem, {i}, {"y"})


def cmim(problem: CodedProblem, chosen: list[int], i: int) -> float:
    alone = information(problem, {i}, {"y"})
    return min([alone, *(information(problem, {i}, {"y"}, frozenset([s])) for s in chosen)])


def inc(problem: CodedProblem, chosen: list[int], i: int) -> float:
    """iSelect's score; the first feature has its information alone."""
    if not chosen:
        return information(problem, {i}, {"y"})
    weight = sum(problem.weights[row] for row in present(problem, [i, *chosen]))
    n_configurations = prod(int(problem.n_levels[j]) for j in chosen)
    degrees = (problem.n_classes - 1) * (int(problem.n_levels[i]) - 1) * n_configurations
    gain = information(problem, {i}, {"y"}, frozenset(chosen))
    return float(2 * weight * gain - chi2.ppf(0.95, degrees))


def subset_value(problem: CodedProblem, subset: tuple[int, ...]) -> float:
    """What GlobalFS minimises."""
    h = entropy(problem, ["y"], list(range(problem.n_rows)))
    unexplained = h - information(problem, set(subset), {"y"})
    n_configurations = prod(int(problem.n_levels[j]) for j in subset)
    degrees = (n_configurations - 1) * (problem.n_classes - 1)
    return float(2 * problem.weights.sum() * unexplained + chi2.ppf(0.95, degrees))


def best_subset(problem: CodedProblem) -> tuple[int, ...]:
    """The best of all that hold the included features and at least one more."""
    free = problem.searched
    every = [s for size in range(1, len(free) + 1) for s in combinations(free, size)]
    best = min(every, key=lambda extra: subset_value(problem, (*problem.included, *extra)))
    return (*problem.included, *best)


def renyi(problem: CodedProblem, chosen: list[int], i: int, alpha: float = 1.01) -> float:
    """MI of the set and the label from matrices over all rows, each row as often as its weight."""
    rows = np.repeat(*_rows_and_counts(problem, [*chosen, i]))
    a_set: NDArray[np.float64] = np.ones((len(rows), len(rows)))
    for feature in [*chosen, i]:
        a_set *= _gauss(problem.codes[rows, feature][:, None].astype(float))
    a_label = _gauss(np.eye(problem.n_classes)[problem.labels[rows]])
    joint = _renyi_entropy(a_set * a_label, alpha)
    return _renyi_entropy(a_set, alpha) + _renyi_entropy(a_label, alpha) - joint


def greedy(
    problem: CodedProblem, k: int, score: Callable[[CodedProblem, list[int], int], float]
) -> Order:
    """The included, then the highest score again and again, the lowest index among equals."""
    order: Order = []
    for feature in problem.included:
        order.append((feature, score(problem, [f for f, _ in order], feature)))
    while len(order) < k:
        chosen = [f for f, _ in order]
        scores = {i: score(problem, chosen, i) for i in problem.candidates if i not in chosen}
        best = max(scores.values())
        winner = min(i for i, s in scores.items() if s >= best - TIE)
        order.append((winner, scores[winner]))
    return order


def _value(problem: CodedProblem, row: int, name: int | str) -> int:
    return int(problem.labels[row] if isinstance(name, str) else problem.codes[row, name])


def _rows_and_counts(
    problem: CodedProblem, features: list[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rows = np.array(present(problem, features))
    return rows, problem.weights[rows].astype(np.int64)


def _gauss(points: NDArray[np.float64]) -> NDArray[np.float64]:
    squared = ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    kernel: NDArray[np.float64] = np.exp(-squared / 2)
    return kernel


def _renyi_entropy(kernel: NDArray[np.float64], alpha: float) -> float:
    spectrum = np.linalg.eigvalsh(kernel / np.trace(kernel))
    return float(np.log(np.sum(np.maximum(spectrum, 0) ** alpha)) / (1 - alpha))


def sorted_by_pattern(
    pattern: list[int], labels: list[int], weights: list[float]
) -> tuple[list[int], list[int]]:
    """Rows of patterns with more than one label, pattern by pattern, and where each begins."""
    rows: list[int] = []
    starts = [0]
    for one in sorted({p for p in pattern if p >= 0}):
        inside = [row for row, p in enumerate(pattern) if p == one and weights[row] > 0]
        if len({labels[row] for row in inside}) > 1:
            rows += inside
            starts.append(len(rows))
    return rows, starts


def split(pattern: list[int], codes: list[int], n_levels: int) -> tuple[list[int], list[int]]:
    """The pattern of each row with one feature more, and each new pattern in ascending order."""
    finer = [
        -1 if p < 0 or code == 255 else p * n_levels + code
        for p, code in zip(pattern, codes, strict=True)
    ]
    distinct = sorted({p for p in finer if p >= 0})
    return [distinct.index(p) if p >= 0 else -1 for p in finer], distinct
