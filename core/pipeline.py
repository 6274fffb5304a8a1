"""The one door: named columns in, a selection with all that explains it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.assembly import describe_rival_step, describe_step, gsm_result, rival_result
from core.config import Evaluate, GsmCpd, SelectionConfig
from core.encoding import as_numbers
from core.evaluation import evaluate
from core.gsm import GsmOutcome, select_gsm
from core.preparation import Prepared, prepare
from core.problem import CodedProblem
from core.results import Evaluation, Phase, Progress, Selected, SelectionResult
from core.rivals import RivalSelection, RivalStep, select_rival
from core.selection.greedy import Step

OnProgress = Callable[[Progress], None]

PHASES: dict[Phase, tuple[float, float]] = {
    "encode": (0.0, 0.05),
    "rank": (0.05, 0.5),
    "fit": (0.5, 0.8),
    "select": (0.8, 1.0),
}
"""What part of a run each phase takes, roughly, so that progress moves evenly."""


def select_features(
    columns: Mapping[str, ArrayLike],
    target: str,
    config: SelectionConfig | None = None,
    on_progress: OnProgress | None = None,
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

    Raises
    ------
    CoreError
        With a sentence that names the column or option at fault.
    """
    config = config or SelectionConfig()
    reporter = _Reporter(on_progress, config)
    prepared = prepare(columns, target, config, lambda done: reporter.phase("encode", done))
    reporter.names = prepared.names
    k = None if config.k == "auto" else config.k
    chosen = _choose(prepared.problem, k, config, reporter)
    evaluation = None
    if config.evaluate is not None:
        evaluation = _evaluate(
            columns, prepared, config, config.evaluate, len(chosen.steps), reporter
        )
    if isinstance(chosen, GsmOutcome):
        return gsm_result(chosen, prepared, target, config, evaluation)
    return rival_result(chosen, prepared, target, config, evaluation)


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
    problem: CodedProblem, k: int | None, config: SelectionConfig, reporter: _Reporter
) -> GsmOutcome | RivalSelection:
    if isinstance(config.method, GsmCpd):
        return select_gsm(problem, k, config.method, reporter.phase)
    return select_rival(problem, k, config.method, reporter.rival_step, reporter.rival_progress)


def _evaluate(
    columns: Mapping[str, ArrayLike],
    prepared: Prepared,
    config: SelectionConfig,
    how: Evaluate,
    k: int,
    reporter: _Reporter,
) -> Evaluation:
    """Held-out accuracy, with the same method choosing anew in every training part."""
    problem = prepared.problem
    fraction = 0.0

    def select(train: NDArray[np.int64]) -> Sequence[int]:
        part = problem.take(train)
        if isinstance(config.method, GsmCpd):
            quiet = select_gsm(part, k, config.method, lambda *_: reporter.split(fraction))
            return quiet.features
        return select_rival(
            part, k, config.method, None, lambda _: reporter.split(fraction)
        ).features

    def tell(done: float) -> None:
        nonlocal fraction
        fraction = done
        reporter.split(done)

    values: NDArray[np.generic] = problem.codes
    ordered = np.array([column.kind == "continuous" for column in prepared.encoding[:-1]])
    if how.values == "raw":
        values = np.column_stack(
            [as_numbers(c, columns[c.name])[prepared.rows] for c in prepared.encoding[:-1]]
        )
    return evaluate(
        select, values, ordered, problem.labels, how,
        seed=config.seed, n_threads=config.n_threads, on_progress=tell,
    )  # fmt: skip
