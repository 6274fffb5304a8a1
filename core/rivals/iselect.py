"""iSelect: conditional information, as long as it is more than chance would give."""

from __future__ import annotations

from dataclasses import replace

from core.arrays import Floats, Ints
from core.config import Iselect
from core.data.problem import CodedProblem
from core.rivals.forward import number_to_choose, search_forward
from core.rivals.outcome import RivalOutcome, RivalStep
from core.rivals.penalty import PenalisedCriterion, chi_square_quantile, note_of_stop
from core.rivals.progress import StepProgress
from core.rivals.setwise import SetInformation
from core.rivals.whole import whole_columns
from core.workers import Workers


class IselectCriterion(PenalisedCriterion):
    """The first by I(X;Y) in nats, then inc, which has the scale of a chi-square statistic."""

    def __init__(self, problem: CodedProblem, known: SetInformation, method: Iselect) -> None:
        def penalties(levels: Ints, n_configurations: float) -> Floats:
            degrees = (problem.n_classes - 1.0) * (levels - 1) * n_configurations
            return chi_square_quantile(degrees, method.confidence)

        n_given = max(1, len(problem.included))
        super().__init__(known, problem.n_levels, n_given, penalties)

    def scores(self, features: Ints) -> Floats:
        """Score `features` beside the chosen ones."""
        if self._known.n_chosen > 0:
            return super().scores(features)
        return self._known.joint((), features)


def iselect(
    problem: CodedProblem, k: int | None, method: Iselect, workers: Workers, progress: StepProgress
) -> RivalOutcome:
    """Add the largest inc; past the method's own stop only when k asks for more."""
    with whole_columns(problem, workers, lambda: progress.inside(0.0)) as columns:
        known = SetInformation(columns, problem.n_levels, progress)
        criterion = IselectCriterion(problem, known, method)

        def stop(step: RivalStep, n_chosen: int) -> bool:
            return k is None and criterion.stopped_after is not None

        found = search_forward(problem, k, criterion, progress, stop)
    if criterion.stopped_after is None:
        return found
    n_wanted = len(found.steps) if k is None else number_to_choose(problem, k)
    notes = note_of_stop("iSelect", criterion.stopped_after, n_wanted)
    return replace(found, notes=notes, stopped_by_itself_after=criterion.stopped_after)
