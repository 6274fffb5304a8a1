"""RJMI: matrix-based Renyi information of the whole set, exact through its distinct patterns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from core.arrays import Floats, Ints, Values
from core.callbacks import OnFraction
from core.config import Rjmi
from core.data.problem import CodedProblem
from core.rivals import _set_kernels
from core.rivals._set_kernels import Patterns
from core.rivals.forward import search_forward
from core.rivals.outcome import RivalOutcome
from core.rivals.progress import StepProgress
from core.rivals.setwise import small
from core.rivals.whole import ColumnBlock, WholeColumns, tasks, whole_columns
from core.workers import Workers

ALONE = np.ones((1, 1))


@dataclass(frozen=True, eq=False)
class Cells:
    """Patterns with a level and a class that occur: which, (n,), and with what weight, (n,)."""

    n_occurring: int
    which: Ints
    weights: Floats

    def dense(self, n_patterns: int, n_classes: int) -> Floats:
        """(n_patterns, n_classes) the weight of all, those that do not occur too."""
        cells = np.zeros(n_patterns * n_classes)
        cells[self.which] = self.weights
        return cells.reshape(-1, n_classes)


@dataclass(frozen=True, eq=False)
class Occurring:
    """Asks which cells occur, and if these are more than `most`, only how many.

    pattern : (n_rows,) of the chosen features, negative where one is missing.
    """

    pattern: Values
    n_patterns: int
    most: int

    def __call__(
        self, block: ColumnBlock, places: Ints, workers: Workers, on_done: OnFraction
    ) -> list[Cells]:
        """Count every feature's."""
        found: dict[int, Cells] = {}
        pattern = self.pattern.astype(np.int32, copy=False)

        def count(task: Ints) -> None:
            found.update({int(n): self._cells(block, int(places[n]), pattern) for n in task})

        workers.run(count, tasks(len(places), len(pattern)), on_done)
        return [found[n] for n in range(len(places))]

    def _cells(self, block: ColumnBlock, place: int, pattern: Patterns) -> Cells:
        codes, n_levels, of = block.codes[place], int(block.levels[place]), block.rows
        fixed = (of.labels, of.n_classes, of.weights)
        table = _set_kernels.count_subset(pattern, self.n_patterns, codes, n_levels, *fixed)
        which = np.flatnonzero(table)
        told = which if len(which) <= self.most else which[:0]
        return Cells(len(which), told, table[told].astype(np.float64))


class RenyiCriterion:
    """MI(X_S,X;Y) of the set and each candidate; codes are taken as numbers.

    Rows of the same pattern are identical, so that the spectrum of a matrix over all rows is, but
    for zeros, that of D^(1/2) K D^(1/2) over the patterns, D their shares of the weight. A row
    counts for a set where all its features are present. As soon as a candidate would need more than
    `max_patterns` distinct patterns, that many rows, drawn once, stand for all.

    Patterns are counted where the columns lie; spectra are taken here, for they need a few rows
    only, and the last digits of LAPACK depend on the machine.
    """

    def __init__(
        self, problem: CodedProblem, columns: WholeColumns, method: Rjmi, progress: StepProgress
    ) -> None:
        self._problem, self._method, self._progress = problem, method, progress
        self._chosen: list[int] = []
        self._label_kernel = self._gauss(2.0 * (1 - np.eye(problem.n_classes)))
        self.note: str | None = None
        self._use(columns)

    def scores(self, features: Ints) -> Floats:
        """Score `features` beside the chosen ones."""
        cells = self._cells(features)
        if self.note is None and max(c.n_occurring for c in cells) > self._method.max_patterns:
            self._sample_rows()
            cells = self._cells(features)
        found = np.empty(len(features))
        # One after the other: the time goes into LAPACK, whose threads are limited in `rjmi`.
        for n, (feature, its) in enumerate(zip(features.tolist(), cells, strict=True)):
            found[n] = self._information(int(self._problem.n_levels[feature]), its)
            self._progress.inside((n + 1) / len(features))
        return found

    def add(self, feature: int) -> None:
        """Take `feature` as chosen."""
        self._chosen.append(feature)
        self._refine(feature)

    def _use(self, columns: WholeColumns) -> None:
        self._columns, self._kernel = columns, ALONE
        self._pattern = np.zeros(columns.rows.n_rows, dtype=np.int32)
        for feature in self._chosen:
            self._refine(feature)

    def _refine(self, feature: int) -> None:
        """Split the patterns of the set by one feature more."""
        codes, n_levels = self._columns.column(feature), int(self._problem.n_levels[feature])
        old_pattern = self._pattern, len(self._kernel)
        self._pattern, distinct = _set_kernels.split(*old_pattern, codes, n_levels)
        old, code = np.divmod(distinct, n_levels)
        own = self._level_kernel(n_levels)
        self._kernel = self._kernel[np.ix_(old, old)] * own[np.ix_(code, code)]

    def _sample_rows(self) -> None:
        n_rows, n_kept = self._problem.n_rows, self._method.max_patterns
        kept = np.random.default_rng(self._problem.seed).choice(n_rows, n_kept, replace=False)
        self._use(self._columns.take(np.sort(kept)))
        self.note = (
            f"RJMI: from feature {len(self._chosen) + 1} on there are more than {n_kept} distinct "
            f"patterns, and {n_kept} of the {n_rows} rows, drawn at random, stand for all."
        )

    def _cells(self, features: Ints) -> list[Cells]:
        """Weigh every pattern of the set and each feature by label."""
        n_patterns = len(self._kernel)
        pattern = small(self._pattern, n_patterns)
        asked = Occurring(pattern, n_patterns, self._method.max_patterns)
        return self._columns.ask(features, asked, lambda _: self._progress.inside(0.0))

    def _information(self, n_levels: int, occurring: Cells) -> float:
        cells = occurring.dense(len(self._kernel) * n_levels, self._problem.n_classes)
        if cells.sum() <= 0:
            return 0.0
        cells /= cells.sum()
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
    problem: CodedProblem, k: int | None, method: Rjmi, workers: Workers, progress: StepProgress
) -> RivalOutcome:
    """Forward greedy by the information of the whole set."""
    with (
        whole_columns(problem, workers, lambda: progress.inside(0.0)) as columns,
        threadpool_limits(problem.n_threads or None),
    ):
        criterion = RenyiCriterion(problem, columns, method, progress)
        found = search_forward(problem, k, criterion, progress)
    return replace(found, notes=(criterion.note,)) if criterion.note else found
