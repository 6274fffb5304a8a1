"""RJMI: matrix-based Renyi information of the whole set, exact through its distinct patterns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from core.arrays import MISSING, Floats, Ints
from core.config import Rjmi
from core.data.problem import CodedProblem
from core.rivals import _set_kernels
from core.rivals.forward import search_forward
from core.rivals.outcome import RivalOutcome
from core.rivals.progress import StepProgress

ALONE = np.ones((1, 1))


class RenyiCriterion:
    """MI(X_S,X;Y) of the set and each candidate; codes are taken as numbers.

    Rows of the same pattern are identical, so that the spectrum of a matrix over all rows is, but
    for zeros, that of D^(1/2) K D^(1/2) over the patterns, D their shares of the weight. A row
    counts for a set where all its features are present. As soon as a candidate would need more than
    `max_patterns` distinct patterns, that many rows, drawn once, stand for all.
    """

    def __init__(self, problem: CodedProblem, method: Rjmi, progress: StepProgress) -> None:
        self._problem, self._method, self._progress = problem, method, progress
        self._weights = problem.weights
        self._chosen: list[int] = []
        self._label_kernel = self._gauss(2.0 * (1 - np.eye(problem.n_classes)))
        self.note: str | None = None
        self._use_rows(np.arange(problem.n_rows))

    def scores(self, features: Ints) -> Floats:
        """Score `features` beside the chosen ones."""
        if self.note is None and self._most_patterns(features) > self._method.max_patterns:
            self._sample_rows()
        found = np.empty(len(features))
        # One after the other: the time goes into LAPACK, whose threads are limited in `rjmi`.
        for position, feature in enumerate(features.tolist()):
            found[position] = self._information(feature)
            self._progress.inside((position + 1) / len(features))
        return found

    def add(self, feature: int) -> None:
        """Take `feature` as chosen."""
        self._chosen.append(feature)
        self._refine(feature)

    def _use_rows(self, rows: Ints) -> None:
        self._rows, self._kernel = rows, ALONE
        self._pattern = np.zeros(len(rows), dtype=np.int64)
        for feature in self._chosen:
            self._refine(feature)

    def _refine(self, feature: int) -> None:
        """Split the patterns of the set by one feature more; drop the rows that miss it."""
        codes = self._problem.column(feature)[self._rows]
        present = codes != MISSING
        self._rows, pattern = self._rows[present], self._pattern[present]
        n_levels = int(self._problem.n_levels[feature])
        finer = pattern * n_levels + codes[present]
        distinct, self._pattern = np.unique(finer, return_inverse=True)
        old, code = np.divmod(distinct, n_levels)
        own = self._level_kernel(n_levels)
        self._kernel = self._kernel[np.ix_(old, old)] * own[np.ix_(code, code)]

    def _sample_rows(self) -> None:
        n_rows, n_kept = self._problem.n_rows, self._method.max_patterns
        kept = np.random.default_rng(self._problem.seed).choice(n_rows, n_kept, replace=False)
        self._use_rows(np.sort(kept))
        self.note = (
            f"RJMI: from feature {len(self._chosen) + 1} on there are more than {n_kept} distinct "
            f"patterns, and {n_kept} of the {n_rows} rows, drawn at random, stand for all."
        )

    def _cells(self, feature: int) -> Floats:
        """Weigh every pattern of the set and the feature by label: (patterns, n_classes)."""
        problem = self._problem
        codes, n_levels = problem.column(feature)[self._rows], int(problem.n_levels[feature])
        present = codes != MISSING
        cell = (self._pattern * n_levels + codes) * problem.n_classes + problem.labels[self._rows]
        n_cells = len(self._kernel) * n_levels * problem.n_classes
        cells = np.bincount(cell[present], self._weights[self._rows][present], n_cells)
        return cells.astype(np.float64).reshape(-1, problem.n_classes)

    def _most_patterns(self, features: Ints) -> int:
        return max(int(np.count_nonzero(self._cells(int(f)))) for f in features)

    def _information(self, feature: int) -> float:
        cells = self._cells(feature)
        if cells.sum() <= 0:
            return 0.0
        cells /= cells.sum()
        n_levels = int(self._problem.n_levels[feature])
        both, labels = np.nonzero(cells)
        alone = np.flatnonzero(cells.sum(axis=1))
        unlabelled = np.zeros_like(alone)
        h_set = self._entropy(alone, n_levels, ALONE, unlabelled, cells.sum(axis=1)[alone])
        h_joint = self._entropy(both, n_levels, self._label_kernel, labels, cells[both, labels])
        root = np.sqrt(cells.sum(axis=0))
        h_label = self._renyi(root[:, None] * self._label_kernel * root)
        return h_set + h_label - h_joint

    def _entropy(
        self,
        patterns: Ints,
        n_levels: int,
        label_kernel: Floats,
        labels: Ints,
        shares: Floats,
    ) -> float:
        old, codes = np.divmod(patterns, n_levels)
        own = self._level_kernel(n_levels)
        return self._renyi(
            _set_kernels.scaled_kernel(self._kernel, old, own, codes, label_kernel, labels, shares)
        )

    def _renyi(self, matrix: Floats) -> float:
        """Give the entropy of order alpha of a matrix with trace 1, in nats."""
        spectrum, alpha = np.linalg.eigvalsh(matrix), self._method.alpha
        return float(np.log(np.sum(np.maximum(spectrum, 0.0) ** alpha)) / (1.0 - alpha))

    def _level_kernel(self, n_levels: int) -> Floats:
        levels = np.arange(float(n_levels))
        return self._gauss((levels[:, None] - levels) ** 2)

    def _gauss(self, squared_distance: Floats) -> Floats:
        kernel: Floats = np.exp(-squared_distance / (2.0 * self._method.sigma**2))
        return kernel


def rjmi(
    problem: CodedProblem, k: int | None, method: Rjmi, progress: StepProgress
) -> RivalOutcome:
    """Forward greedy by the information of the whole set."""
    criterion = RenyiCriterion(problem, method, progress)
    with threadpool_limits(problem.n_threads or None):
        found = search_forward(problem, k, criterion, progress)
    return replace(found, notes=(criterion.note,)) if criterion.note else found
