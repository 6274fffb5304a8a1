"""The one door: named columns in, a selection with all that explains it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from numpy.typing import ArrayLike

from core.assembly import describe_rival_step, describe_step, gsm_result, rival_result
from core.checkpoint import Checkpoint
from core.comparison import compare_methods
from core.config import Bootstrap, Compare, GsmCpd, SelectionConfig
from core.gsm import PHASES, GsmOutcome, select_gsm
from core.preparation import prepare
from core.problem import CodedProblem
from core.results import Phase, Progress, Selected, SelectionResult
from core.rivals import RivalSelection, RivalStep, select_rival
from core.selection.greedy import Step
from core.stability import measure_stability
from core.trials import Ground, Timer, evaluate

OnProgress = Callable[[Progress], None]


def select_features(
    columns: Mapping[str, ArrayLike],
    target: str,
    config: SelectionConfig | None = None,
    on_progress: OnProgress | None = None,
    checkpoint: Checkpoint | None = None,
) -> SelectionResult:
    """Choose the features that inform most about the target.

    Parameters
    ----------
    columns : mapping from name to one-dimensional array
        Numbers, booleans or strings; NaN, None and masked values are missing. The target is among
        them.
    target : str
        The label; numbers that are no classes are cut into quantiles.
    config : SelectionConfig, optional
        How many features, by which method, from what.
    on_progress : callable, optional
        Told the phase, the fraction done and what was just found; stops the run by raising.
    checkpoint : Checkpoint, optional
        What an interrupted run of the same call completed; this run goes on from it, adds to it,
        and gives the same result. Of a rival it holds the splits of the evaluation alone.

    Raises
    ------
    CoreError
        With a sentence that names the column or option at fault.
    """
    config = config or SelectionConfig()
    done = checkpoint or Checkpoint()
    reporter = _Reporter(on_progress, config)
    prepared = prepare(columns, target, config, lambda done: reporter.phase("encode", done))
    reporter.names = prepared.names
    k = None if config.k == "auto" else config.k
    chosen = _choose(prepared.problem, k, config, reporter, done)
    evaluation = None
    if config.evaluate is not None:
        ground = Ground.of(columns, prepared, config.evaluate)
        about = (ground, len(chosen.steps), config.method, config.evaluate)
        evaluation = evaluate(*about, reporter.split, done.trials)
    if isinstance(chosen, GsmOutcome):
        return gsm_result(chosen, prepared, target, config, evaluation)
    return rival_result(chosen, prepared, target, config, evaluation)


def add_experiments(
    result: SelectionResult,
    columns: Mapping[str, ArrayLike],
    config: SelectionConfig,
    compare: Compare | None = None,
    bootstrap: Bootstrap | None = None,
    on_progress: OnProgress | None = None,
    timer: Timer | None = None,
) -> SelectionResult:
    """Complete a selection by a comparison of methods and by its stability, where asked for.

    Parameters
    ----------
    result, columns, config
        What `select_features` gave and was given.
    compare : Compare, optional
        Which methods, on how many splits.
    bootstrap : Bootstrap, optional
        How many samples the features are chosen on anew.
    on_progress : callable, optional
        Told the phase and the fraction done of each; stops the run by raising.
    timer : callable, optional
        Gives seconds, for the times of the methods.

    """
    tell = on_progress or (lambda progress: None)
    prepared = prepare(columns, result.target, config, lambda _: None)
    k = None if config.k == "auto" else config.k
    if compare is not None:
        ground = Ground.of(columns, prepared, compare.evaluate)
        report = partial(_tell_phase, tell, "compare")
        result = replace(result, comparison=compare_methods(ground, k, compare, report, timer))
    if bootstrap is not None:
        about = (prepared.problem, k, config.method, bootstrap, prepared.names, result.names)
        found = measure_stability(*about, partial(_tell_phase, tell, "resample"))
        result = replace(result, stability=found)
    return result


def _tell_phase(tell: OnProgress, phase: Phase, fraction: float) -> None:
    tell(Progress(phase=phase, fraction=fraction))


class _Reporter:
    """Turns what the methods tell into progress of the whole run."""

    def __init__(self, on_progress: OnProgress | None, config: SelectionConfig) -> None:
        self._tell = on_progress or (lambda progress: None)
        self._method = config.method
        self._share = 1 / (1 + (config.evaluate.n_splits if config.evaluate is not None else 0))
        self._last: Selected | None = None
        self.names: Sequence[str] = ()

    def phase(
        self, phase: Phase, done: float, loglik: float | None = None, step: Step | None = None
    ) -> None:
        selected = None
        if step is not None and isinstance(self._method, GsmCpd):
            selected = self._last = describe_step(
                step, self._last, self.names, self._method.objective
            )
        low, high = PHASES[phase]
        fraction = (low + (high - low) * min(done, 1.0)) * self._share
        self._tell(Progress(phase=phase, fraction=fraction, loglik=loglik, selected=selected))

    def rival_step(self, step: RivalStep) -> None:
        rank = 1 if self._last is None else self._last.rank + 1
        self._last = describe_rival_step(step, rank, self.names)
        self._tell(Progress(phase="select", fraction=self._rival_fraction, selected=self._last))

    _rival_fraction = PHASES["encode"][1]

    def rival_progress(self, done: float) -> None:
        low = PHASES["encode"][1]
        self._rival_fraction = (low + (1 - low) * done) * self._share
        self._tell(Progress(phase="select", fraction=self._rival_fraction))

    def split(self, done: float) -> None:
        fraction = self._share + (1 - self._share) * done
        self._tell(Progress(phase="evaluate", fraction=fraction))


def _choose(
    problem: CodedProblem,
    k: int | None,
    config: SelectionConfig,
    reporter: _Reporter,
    done: Checkpoint,
) -> GsmOutcome | RivalSelection:
    if isinstance(config.method, GsmCpd):
        return select_gsm(problem, k, config.method, reporter.phase, done)
    return select_rival(problem, k, config.method, reporter.rival_step, reporter.rival_progress)
