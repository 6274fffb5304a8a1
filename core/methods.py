"""The only place that tells methods apart: whichever it is, features are chosen by one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.callbacks import ignore
from core.config import GsmCpd, Method, Objective
from core.data.problem import CodedProblem
from core.gsm.completed import Completed
from core.gsm.method import select_gsm
from core.gsm.outcome import GsmOutcome
from core.gsm.outcome import describe_step as describe_gsm_step
from core.gsm.step import Step
from core.results import OnProgress, Phase, Progress, Selected
from core.rivals.method import select_rival
from core.rivals.outcome import RivalOutcome, RivalStep
from core.rivals.outcome import describe_step as describe_rival_step

Outcome = GsmOutcome | RivalOutcome
"""Both have features in order of choice, fits, notes, and explain a result."""

PHASES: dict[Phase, tuple[float, float]] = {
    "encode": (0.0, 0.05),
    "rank": (0.05, 0.5),
    "fit": (0.5, 0.8),
    "select": (0.8, 1.0),
}
"""What part of a run each phase takes, roughly, so that progress moves evenly.

Rivals have nothing to fit: selecting is all that is left after encoding.
"""


def choose(
    problem: CodedProblem,
    k: int | None,
    method: Method,
    on_progress: OnProgress = ignore,
    names: Sequence[str] = (),
    completed: Completed | None = None,
) -> Outcome:
    """Choose features.

    Parameters
    ----------
    problem : CodedProblem
        The codes, the label, and which features take part.
    k : int or None
        How many, the included ones among them; None for as many as the method sees fit.
    method : Method
        Which one, with its options.
    on_progress : callable
        Told the fraction of a run that is done, which encoding is the first part of, and what was
        just found; stops the run by raising.
    names : sequence of str
        Those of the features; without them progress does not tell which were chosen.
    completed : Completed, optional
        What an interrupted run of GSM-CPD completed; this one goes on from there and adds to it.

    """
    if isinstance(method, GsmCpd):
        tell = _GsmTeller(on_progress, names, method.objective).tell
        return select_gsm(problem, k, method, tell, completed)
    teller = _RivalTeller(on_progress, names)
    return select_rival(problem, k, method, teller.chose, teller.tell)


def settle(method: Method, rank: int | None) -> Method:
    """The same method with the rank that a selection by it found, so that none is searched."""
    if isinstance(method, GsmCpd) and rank is not None:
        return replace(method, ranks=(rank,))
    return method


class _GsmTeller:
    """Turns what GSM-CPD tells into progress."""

    def __init__(self, on_progress: OnProgress, names: Sequence[str], objective: Objective) -> None:
        self._on_progress, self._names, self._objective = on_progress, names, objective
        self._last: Selected | None = None

    def tell(self, phase: Phase, done: float, loglik: float | None, step: Step | None) -> None:
        selected = None
        if step is not None and self._names:
            selected = describe_gsm_step(step, self._last, self._names, self._objective)
            self._last = selected
        low, high = PHASES[phase]
        fraction = low + (high - low) * min(done, 1.0)
        self._on_progress(
            Progress(phase=phase, fraction=fraction, loglik=loglik, selected=selected)
        )


class _RivalTeller:
    """Turns what a rival tells into progress."""

    def __init__(self, on_progress: OnProgress, names: Sequence[str]) -> None:
        self._on_progress, self._names = on_progress, names
        self._encoded = self._fraction = PHASES["encode"][1]
        self._n_chosen = 0

    def tell(self, done: float) -> None:
        self._fraction = self._encoded + (1 - self._encoded) * done
        self._on_progress(Progress(phase="select", fraction=self._fraction))

    def chose(self, step: RivalStep) -> None:
        self._n_chosen += 1
        if self._names:
            selected = describe_rival_step(step, self._n_chosen, self._names)
            self._on_progress(Progress(phase="select", fraction=self._fraction, selected=selected))
