"""Information between a candidate, one chosen feature and the label, for all candidates at once."""

from __future__ import annotations

import numpy as np

from core.arrays import Bytes, Floats, Ints, Truths, Values
from core.data.problem import CodedProblem
from core.rivals import _kernels
from core.rivals._kernels import Pairs
from core.rivals.columns import pack
from core.rivals.progress import StepProgress
from core.workers import Workers

COUNTS_PER_TASK = 20_000_000
"""About 20 ms of counting: short enough to cancel, long enough not to notice the threads."""
COUNTS_WORTH_A_THREAD = 500_000


def counting(problem: CodedProblem) -> tuple[Values, Floats, Floats]:
    """Give the kernels' weights, and log n and n log n of every count; empty where not needed.

    Without weights cells are whole numbers, and their logarithms come from a table.
    """
    if problem.row_weights is not None:
        return problem.row_weights, np.empty(0), np.empty(0)
    n = np.arange(problem.n_rows + 1.0)
    log = np.log(np.maximum(n, 1.0))
    return np.empty(0, np.int32), log, n * log


class PairInformation:
    """Plug-in information in nats, over the rows where all that is asked about is present.

    Members are positions in `members`, the ascending features that take part. `correct`: less what
    chance adds on average.
    """

    def __init__(
        self,
        problem: CodedProblem,
        workers: Workers,
        progress: StepProgress,
        *,
        correct: bool = False,
    ) -> None:
        self._correct = correct
        self._problem, self._workers, self._progress = problem, workers, progress
        self._columns = pack(problem, workers, lambda: progress.inside(0.0))
        self.n_rows, self.members = problem.n_rows, self._columns.features
        self.group_of = self._columns.group_of
        self._weights, _, self._lookup = counting(problem)

    def position(self, features: Ints | int) -> Ints:
        """Give the members that `features` are."""
        return np.searchsorted(self.members, features)

    def about_label(self) -> Floats:
        """Give I(X;Y) of every member."""
        n = self._problem.n_classes
        return self._inform(
            self._problem.labels.astype(np.uint16), np.array([1, n, n, n, self._correct])
        )[1]

    def about_member(self, member: int) -> Floats:
        """Give I(X;X_s) of every member, s being `member`."""
        columns = self._columns
        levels, stored = columns.levels[member], columns.stored[member]
        shape = [1, levels, stored, stored, self._correct]
        return self._inform(self._digits(member).astype(np.uint16), np.array(shape))[1]

    def about_label_with(self, member: int) -> Floats:
        """Give I(X,X_s;Y) of every member, s being `member`."""
        return self._inform(*self.pair_with_label(member))[1]

    def pair_with_label(self, member: int) -> tuple[Pairs, Ints]:
        """Give codes of (X_s, Y) for every row, and their shape as the kernels want it."""
        n = self._problem.n_classes
        pairs = self._digits(member).astype(np.uint16) * np.uint16(n) + self._problem.labels
        levels, stored = self._columns.levels[member], self._columns.stored[member]
        return pairs.astype(np.uint16), np.array([levels, n, n, stored * n, self._correct])

    def lower_minima(
        self,
        groups: Ints,
        pairs: Pairs,
        shapes: Ints,
        use_joint: bool,
        worth: float,
        alive: Truths,
        n_applied: Ints,
        minima: Floats,
    ) -> None:
        """Bring `groups` up to date with the chosen features, as far as that is `worth` it."""

        def lower(task: Ints) -> None:
            fixed = (self._arrays, pairs, shapes, self._weights, self._lookup)
            _kernels.lower_minima(task, *fixed, use_joint, worth, alive, n_applied, minima)

        lag = len(shapes) - int(n_applied[groups].min())
        self._workers.run(lower, self._tasks(groups, lag), self._progress.inside)

    def _inform(self, pairs: Pairs, shape: Ints) -> tuple[Floats, Floats]:
        found = np.empty((2, len(self.members)))

        def inform(task: Ints) -> None:
            fixed = (self._arrays, pairs, shape, self._weights, self._lookup)
            _kernels.inform(task, *fixed, found[0], found[1])

        groups = np.arange(self._columns.n_groups)
        self._workers.run(inform, self._tasks(groups, 1), self._progress.inside)
        return found[0], found[1]

    @property
    def _arrays(self) -> _kernels.Columns:
        columns = self._columns
        return columns.packed, columns.levels, columns.stored, columns.strides, columns.starts

    def _digits(self, member: int) -> Bytes:
        columns = self._columns
        code = np.arange(256) // columns.strides[member] % columns.stored[member]
        digits: Bytes = code.astype(np.uint8)[columns.packed[self.group_of[member]]]
        return digits

    def _tasks(self, groups: Ints, n_passes: int) -> list[Ints]:
        """Cut by work alone, so that the number of threads changes nothing."""
        counts = len(groups) * self._problem.n_rows * n_passes
        n_tasks = -(-counts // COUNTS_PER_TASK)
        if counts > COUNTS_WORTH_A_THREAD:
            n_tasks = max(n_tasks, 4)
        return np.array_split(groups, max(1, min(n_tasks, len(groups))))
