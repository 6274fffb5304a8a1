"""RJMI: matrix-based Renyi information of the whole set, exact through its distinct patterns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.config import Rjmi
from core.problem import MISSING, CodedProblem
from core.rivals.greedy import search_forward
from core.rivals.problem import RivalSelection, Scores
from core.rivals.progress import Progress
from core.workers import Workers

Indices = NDArray[np.int64]
Matrix = NDArray[np.float64]


def renyi_entropy(kernel: Matrix, shares: NDArray[np.float64], alpha: float) -> float:
    """Entropy of order alpha of patterns with these shares of the weight, in nats.

    Rows of the same pattern are identical, so that the spectrum of the matrix over all rows is,
    but for zeros, that of D^(1/2) K D^(1/2) over the patterns.
    """
    root = np.sqrt(shares)
    spectrum = np.linalg.eigvalsh(root[:, None] * kernel * root)
    return float(np.log(np.sum(np.maximum(spectrum, 0.0) ** alpha)) / (1.0 - alpha))


class RenyiCriterion:
    """MI(X_S,X;Y) of the set and each candidate; codes are taken as numbers.

    A row counts for a set where all its features are present. As soon as a candidate would need
    more than `max_patterns` distinct patterns, that many rows, drawn once, stand for all.
    """

    def __init__(
        self, problem: CodedProblem, method: Rjmi, workers: Workers, progress: Progress
    ) -> None:
        self._problem, self._method = problem, method
        self._workers, self._progress = workers, progress
        self._chosen: list[int] = []
        self._label_kernel = self._gauss(2.0 * (1 - np.eye(problem.n_classes)))
        self.note: str | None = None
        self._use_rows(np.arange(problem.n_rows))

    def scores(self, features: Indices) -> Scores:
        """Score `features` beside the chosen ones."""
        if self.note is None and self._most_patterns(features) > self._method.max_patterns:
            self._sample_rows()
        found = np.empty(len(features))

        def inform(position: int) -> None:
            found[position] = self._information(int(features[position]))

        self._workers.run(inform, range(len(features)), self._progress.inside)
        return found

    def add(self, feature: int) -> None:
        """Take `feature` as chosen."""
        self._chosen.append(feature)
        self._refine(feature)

    def _use_rows(self, rows: Indices) -> None:
        self._rows = rows
        self._pattern, self._kernel = np.zeros(len(rows), dtype=np.int64), np.ones((1, 1))
        for feature in self._chosen:
            self._refine(feature)

    def _refine(self, feature: int) -> None:
        """Split the patterns of the set by one feature more; drop the rows that miss it."""
        codes = self._problem.codes[self._rows, feature]
        present = codes != MISSING
        self._rows, pattern = self._rows[present], self._pattern[present]
        n_levels = int(self._problem.n_levels[feature])
        distinct, self._pattern = np.unique(
            pattern * n_levels + codes[present], return_inverse=True
        )
        old, code = np.divmod(distinct, n_levels)
        self._kernel = self._kernel[np.ix_(old, old)] * self._feature_kernel(code, code)

    def _sample_rows(self) -> None:
        n_rows, n_kept = self._problem.n_rows, self._method.max_patterns
        kept = np.random.default_rng(self._problem.seed).choice(n_rows, n_kept, replace=False)
        self._use_rows(np.sort(kept))
        self.note = (
            f"RJMI: from feature {len(self._chosen) + 1} on there are more than {n_kept} distinct "
            f"patterns, and {n_kept} of the {n_rows} rows, drawn at random, stand for all."
        )

    def _cells(self, feature: int) -> tuple[Matrix, int]:
        """Weight of every (pattern of the set and the feature, label), and the feature's levels."""
        problem = self._problem
        codes, n_levels = problem.codes[self._rows, feature], int(problem.n_levels[feature])
        present = codes != MISSING
        cell = (self._pattern * n_levels + codes) * problem.n_classes + problem.labels[self._rows]
        n_cells = len(self._kernel) * n_levels * problem.n_classes
        weights = problem.weights[self._rows][present]
        cells = np.bincount(cell[present], weights, n_cells).astype(np.float64)
        return cells.reshape(-1, problem.n_classes), n_levels

    def _most_patterns(self, features: Indices) -> int:
        return max(int(np.count_nonzero(self._cells(int(f))[0])) for f in features)

    def _information(self, feature: int) -> float:
        cells, n_levels = self._cells(feature)
        if cells.sum() <= 0:
            return 0.0
        cells /= cells.sum()
        alpha = self._method.alpha
        patterns, labels = np.nonzero(cells)
        joint = self._set_kernel(patterns, n_levels) * self._label_kernel[np.ix_(labels, labels)]
        alone = np.flatnonzero(cells.sum(axis=1))
        h_set = renyi_entropy(self._set_kernel(alone, n_levels), cells.sum(axis=1)[alone], alpha)
        h_label = renyi_entropy(self._label_kernel, cells.sum(axis=0), alpha)
        return h_set + h_label - renyi_entropy(joint, cells[patterns, labels], alpha)

    def _set_kernel(self, patterns: Indices, n_levels: int) -> Matrix:
        old, codes = np.divmod(patterns, n_levels)
        kernel: Matrix = self._kernel[np.ix_(old, old)] * self._feature_kernel(codes, codes)
        return kernel

    def _feature_kernel(self, codes: Indices, others: Indices) -> Matrix:
        return self._gauss((codes[:, None] - others[None, :]) ** 2.0)

    def _gauss(self, squared_distance: NDArray[np.floating[Any]]) -> Matrix:
        kernel: Matrix = np.exp(-squared_distance / (2.0 * self._method.sigma**2))
        return kernel


def rjmi(
    problem: CodedProblem, k: int | None, method: Rjmi, workers: Workers, progress: Progress
) -> RivalSelection:
    """Forward greedy by the information of the whole set."""
    criterion = RenyiCriterion(problem, method, workers, progress)
    found = search_forward(problem, k, criterion, progress)
    return replace(found, notes=(criterion.note,)) if criterion.note else found
