"""Information about the label in a whole set of features, from its distinct patterns."""

from __future__ import annotations

import numpy as np

from core.arrays import MISSING, Floats, Ints
from core.data.problem import CodedProblem
from core.rivals import _set_kernels
from core.rivals.pairwise import counting
from core.rivals.progress import StepProgress
from core.workers import Workers

COUNTS_PER_TASK = 10_000_000


class SetInformation:
    """How much each feature adds to the chosen set; rows that miss one of the chosen are left out.

    Weights are counts: the total weight takes the place of the number of rows.
    """

    def __init__(self, problem: CodedProblem, workers: Workers, progress: StepProgress) -> None:
        self._problem, self._workers, self._progress = problem, workers, progress
        self._columns = problem.engine.room(len(problem.columns), problem.n_rows)
        for feature in range(len(problem.columns)):
            self._columns[feature] = problem.column(feature)
        self._pattern = np.zeros(problem.n_rows, dtype=np.int64)
        self.n_chosen, self.n_configurations = 0, 1.0
        self._weights, self._log, self._x_log_x = counting(problem)

    def gains(self, features: Ints) -> Floats:
        """Give twice the total weight times I(X;Y|X_S), over the rows where X is present too."""
        rows, starts = self._segments()
        found = np.empty(len(features))
        p = self._problem
        fixed = (p.labels, p.n_classes, rows, starts, self._weights, self._log)

        def inform(task: Ints) -> None:
            chunk = features[task]
            columns, levels = self._columns[chunk], p.n_levels[chunk]
            found[task] = _set_kernels.inform_segments(columns, levels, *fixed)

        self._workers.run(inform, self._tasks(len(features), len(rows)), self._progress.inside)
        return 2.0 * found

    def add(self, feature: int) -> None:
        """Put `feature` into the set."""
        codes, n_levels = self._columns[feature], int(self._problem.n_levels[feature])
        missing = (codes == MISSING) | (self._pattern < 0)
        finer = self._pattern * n_levels + codes
        finer[missing] = -1
        distinct, compact = np.unique(finer, return_inverse=True)
        self._pattern = compact - int(distinct[0] < 0)
        self.n_chosen += 1
        self.n_configurations *= n_levels

    def joint(self, prefix: tuple[int, ...], features: Ints) -> Floats:
        """Give I(X_P,X;Y) of each feature X together with the chosen set and the prefix P."""
        pattern, n_patterns = self._extend(prefix)
        found = np.empty(len(features))
        p = self._problem
        fixed = (p.labels, p.n_classes, self._weights, self._x_log_x)

        def inform(task: Ints) -> None:
            chunk = features[task]
            columns, levels = self._columns[chunk], p.n_levels[chunk]
            found[task] = _set_kernels.inform_subsets(pattern, n_patterns, columns, levels, *fixed)

        tasks = self._tasks(len(features), p.n_rows)
        self._workers.run(inform, tasks, lambda _: self._progress.inside(0.0))
        return found

    def _extend(self, prefix: tuple[int, ...]) -> tuple[Ints, int]:
        pattern, n_patterns = self._pattern, int(self._pattern.max()) + 1
        for feature in prefix:
            codes, n_levels = self._columns[feature], int(self._problem.n_levels[feature])
            missing = (codes == MISSING) | (pattern < 0)
            pattern = np.where(missing, -1, pattern * n_levels + codes)
            n_patterns *= n_levels
        return pattern, n_patterns

    def _segments(self) -> tuple[Ints, Ints]:
        """Give the rows in order of pattern, only those whose pattern has more than one label."""
        pattern, labels = self._pattern, self._problem.labels
        n_patterns = int(pattern.max()) + 1
        # One place more, where the rows without a pattern (-1) look themselves up.
        lowest, highest = np.full(n_patterns + 1, 255), np.zeros(n_patterns + 1, dtype=np.int64)
        present = (pattern >= 0) & (self._problem.weights > 0)
        np.minimum.at(lowest, pattern[present], labels[present])
        np.maximum.at(highest, pattern[present], labels[present])
        mixed = present & (lowest != highest)[pattern]
        order = np.argsort(np.where(mixed, pattern, n_patterns), kind="stable")
        rows = order[: int(mixed.sum())]
        starts = np.flatnonzero(np.diff(pattern[rows], prepend=-1, append=n_patterns))
        return rows, starts

    def _tasks(self, n_features: int, n_rows: int) -> list[Ints]:
        n_tasks = max(4, n_features * n_rows // COUNTS_PER_TASK)
        return np.array_split(np.arange(n_features), min(n_tasks, n_features))
