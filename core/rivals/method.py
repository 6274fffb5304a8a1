"""The methods that the paper compares with, on the same codes as ours."""

from __future__ import annotations

from core.callbacks import OnFraction, ignore
from core.config import Cmim, GlobalFs, Iselect, Jmi, Jmim, Mrmr, Rival, Rjmi
from core.data.problem import CodedProblem
from core.rivals.forward import Criterion, number_to_choose, search_forward
from core.rivals.globalfs import globalfs
from core.rivals.iselect import iselect
from core.rivals.jmim_cmim import MinimumCriterion
from core.rivals.mrmr_jmi import JmiCriterion, MrmrCriterion
from core.rivals.outcome import OnStep, RivalOutcome
from core.rivals.pairwise import PairInformation
from core.rivals.progress import StepProgress
from core.rivals.rjmi import rjmi
from core.workers import Workers


def select_rival(
    problem: CodedProblem,
    k: int | None,
    method: Rival,
    on_step: OnStep = ignore,
    on_progress: OnFraction = ignore,
) -> RivalOutcome:
    """Choose k features by `method`.

    Parameters
    ----------
    problem : CodedProblem
        The codes, the label, and which features take part.
    k : int or None
        How many, the included ones among them. None lets iSelect and GlobalFS stop by themselves
        and ranks all candidates with the others.
    method : Rival
        Which one, with its options.
    on_step, on_progress : callable, optional
        Told each choice, and several times a second the fraction that is done. Either stops the
        run by raising.

    """
    n_steps = number_to_choose(problem, k)
    progress = StepProgress(n_steps, on_step, on_progress)
    with Workers(problem.n_threads) as workers:
        match method:
            case Rjmi():
                return rjmi(problem, k, method, progress)
            case Iselect():
                return iselect(problem, k, method, workers, progress)
            case GlobalFs():
                return globalfs(problem, k, method, workers, progress)
            case _:
                pairs = PairInformation(problem, workers, progress)
                criterion = _pairwise_criterion(method, pairs, n_steps)
                return search_forward(problem, k, criterion, progress)


def _pairwise_criterion(
    method: Mrmr | Jmi | Jmim | Cmim, pairs: PairInformation, n_steps: int
) -> Criterion:
    match method:
        case Mrmr():
            return MrmrCriterion(pairs)
        case Jmi():
            return JmiCriterion(pairs)
        case Jmim() | Cmim():
            return MinimumCriterion(pairs, n_steps, joint=isinstance(method, Jmim))
