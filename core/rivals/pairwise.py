"""Information between a candidate, one chosen feature and the label, for all candidates at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from core.arrays import Floats, Ints, Truths
from core.data.problem import CodedProblem
from core.rivals import _kernels
from core.rivals.columns import Gathered, gather
from core.rivals.labelled import Labelled
from core.rivals.progress import StepProgress
from core.rivals.tables import Joined, Partner, Question, count, questions, tasks
from core.workers import Workers


class PairInformation:
    """Plug-in information in nats, over the rows where all that is asked about is present.

    Members are positions in `members`, the ascending features that take part. `correct`: less what
    chance adds on average.
    """

    def __init__(
        self,
        problem: CodedProblem,
        rows: Gathered,
        workers: Workers,
        progress: StepProgress,
        *,
        correct: bool,
    ) -> None:
        self._n_classes, self._correct = problem.n_classes, correct
        self._rows, self._workers, self._progress = rows, workers, progress
        self.members, self.group_of = rows.packing.features, rows.packing.group_of
        self._joined = None if rows.whole is None else Joined(rows.whole)
        self._lookup = Labelled.of(problem).x_log_x

    def position(self, features: Ints | int) -> Ints:
        """Give the members that `features` are."""
        return np.searchsorted(self.members, features)

    def about_label(self) -> Floats:
        """Give I(X;Y) of every member."""
        n = self._n_classes
        nothing = np.zeros(256, dtype=np.uint16)
        return self._inform_all(Partner(0, nothing, True, self._shape(1, n, n, n)))

    def about_member(self, member: int) -> Floats:
        """Give I(X;X_s) of every member, s being `member`."""
        packing = self._rows.packing
        levels, stored = packing.levels[member], packing.stored[member]
        digits = packing.digits(member).astype(np.uint16)
        shape = self._shape(1, levels, stored, stored)
        return self._inform_all(Partner(int(self.group_of[member]), digits, False, shape))

    def about_label_with(self, member: int) -> Floats:
        """Give I(X,X_s;Y) of every member, s being `member`."""
        return self._inform_all(self.with_label(member))

    def with_label(self, member: int) -> Partner:
        """A chosen member and the label, as one partner of the candidates."""
        packing, n = self._rows.packing, self._n_classes
        digits = (packing.digits(member) * n).astype(np.uint16)
        shape = self._shape(packing.levels[member], n, n, packing.stored[member] * n)
        return Partner(int(self.group_of[member]), digits, True, shape)

    def lower_minima(
        self,
        groups: Ints,
        partners: Sequence[Partner],
        use_joint: bool,
        worth: float,
        alive: Truths,
        n_applied: Ints,
        minima: Floats,
    ) -> None:
        """Take the minima of `groups` over the partners they lack, while a member is `worth` it."""
        if self._joined is not None and len(partners) <= self._joined.most:
            how = (use_joint, worth, alive, n_applied, minima)
            self._lower_at_hand(self._joined, groups, partners, *how)
            return
        starts = self._rows.packing.starts[:-1]
        while True:
            bounds = np.maximum.reduceat(np.where(alive, minima, -np.inf), starts)[groups]
            groups = groups[(n_applied[groups] < len(partners)) & (bounds >= worth)]
            if len(groups) == 0:
                return
            found = self._inform(groups, n_applied[groups], partners)[int(use_joint)]
            np.fmin(minima, found, out=minima)
            n_applied[groups] += 1

    def _lower_at_hand(
        self,
        joined: Joined,
        groups: Ints,
        partners: Sequence[Partner],
        use_joint: bool,
        worth: float,
        alive: Truths,
        n_applied: Ints,
        minima: Floats,
    ) -> None:
        """The same in one go, where nobody else has counts to add."""
        rows, pairs = joined.rows, joined.pairs(partners)
        shapes = np.array([partner.shape for partner in partners])
        fixed = (rows.packing.columns, rows.packed, pairs, shapes, rows.weights, self._lookup)

        def lower(task: Ints) -> None:
            how = (use_joint, worth, alive, n_applied, minima)
            _kernels.lower_minima(groups[task], *fixed, *how)

        lag = len(partners) - int(n_applied[groups].min())
        in_parts = tasks(len(groups), len(rows.labels) * lag)
        self._workers.run(lower, in_parts, self._progress.inside)

    def _shape(self, *sizes: int) -> Ints:
        return np.array([*sizes, self._correct], dtype=np.int64)

    def _inform_all(self, partner: Partner) -> Floats:
        """I(X,A;B) of every member X."""
        groups = np.arange(self._rows.packing.n_groups)
        found: Floats = self._inform(groups, np.zeros_like(groups), [partner])[1]
        return found

    def _inform(self, groups: Ints, which: Ints, partners: Sequence[Partner]) -> Floats:
        """(2, n_members) I(X;B|A) and I(X,A;B), NaN for those that are in none of the groups."""
        found = np.full((2, len(self.members)), np.nan)
        for question in questions(self._rows.packing, groups, which, partners):
            self._answer(question, found)
        return found

    def _answer(self, question: Question, found: Floats) -> None:
        n_asked, inside = len(question.groups), self._progress.inside
        cells = self._rows.blocks.fold(count, question, self._workers, inside)
        columns, starts = self._rows.packing.columns, question.starts
        asked = (question.groups, question.which, columns, question.shapes, starts, cells)

        def inform(task: Ints) -> None:
            _kernels.inform(task, *asked, self._lookup, found[0], found[1])

        self._workers.run(inform, tasks(n_asked, len(cells) // n_asked))


@contextmanager
def pair_information(
    problem: CodedProblem, workers: Workers, progress: StepProgress, *, correct: bool = False
) -> Iterator[PairInformation]:
    """Of the features that take part; their rows are kept until the context ends."""
    with gather(problem, workers, lambda: progress.inside(0.0)) as rows:
        yield PairInformation(problem, rows, workers, progress, correct=correct)
