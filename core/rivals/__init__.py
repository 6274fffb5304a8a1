"""The methods that the paper compares with, on the same codes as ours."""

from __future__ import annotations

from core.config import Cmim, GlobalFs, Iselect, Jmi, Jmim, Mrmr, Rival, Rjmi
from core.rivals.greedy import number_to_choose, search_forward
from core.rivals.jmim import MinimumCriterion
from core.rivals.mrmr import JmiCriterion, MrmrCriterion
from core.rivals.pairwise import PairInformation
from core.rivals.problem import (
    CodedProblem,
    OnProgress,
    OnStep,
    RivalSelection,
    RivalStep,
    ignore,
)
from core.rivals.progress import Progress
from core.rivals.workers import Workers

__all__ = ["CodedProblem", "RivalSelection", "RivalStep", "select_rival"]


def select_rival(
    problem: CodedProblem,
    k: int | None,
    method: Rival,
    on_step: OnStep | None = None,
    on_progress: OnProgress | None = None,
) -> RivalSelection:
    """Choose k features by `method`.

    Parameters
    ----------
    problem : the codes, the label, and which features take part.
    k : how many, the included ones among them. None lets iSelect and GlobalFS stop by themselves
        and ranks all candidates with the others.
    method : which rival, with its options.
    on_step, on_progress : told each choice, and several times a second the fraction that is done.
        Either stops the run by raising.
    """
    n_steps = number_to_choose(problem, k)
    progress = Progress(n_steps, on_step or ignore, on_progress or ignore)
    with Workers(problem.n_threads) as workers:
        pairs = PairInformation(problem, workers, progress)
        match method:
            case Mrmr():
                return search_forward(problem, k, MrmrCriterion(pairs), progress)
            case Jmi():
                return search_forward(problem, k, JmiCriterion(pairs), progress)
            case Jmim() | Cmim():
                joint = isinstance(method, Jmim)
                lazy = MinimumCriterion(pairs, n_steps, joint=joint)
                return search_forward(problem, k, lazy, progress)
            case _:
                raise NotImplementedError
