"""The paper's remodelling: the model is fitted anew to what was chosen, step by step.

The parameters of all features stay in one bank. A refit hides every feature that is not chosen from
the E-step, so that the states explain the chosen features and the label; the M-step over the same
responsibilities still gives every other feature its distribution, which is all a candidate needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.arrays import Floats, Ints
from core.budgets import REFIT_ITERATIONS
from core.config import GsmCpd, Objective
from core.cpd.em import states_per_class, to_fit
from core.cpd.layout import Parameters
from core.cpd.model import CpdFit
from core.cpd.rows import Rows
from core.cpd.spread import SpreadRows, bank_of
from core.fit_config import CpdConfig
from core.gsm.completed import Completed, Refit
from core.gsm.objective import AveragedObjective
from core.gsm.search import choose
from core.gsm.step import Step, Task
from core.workers import Workers

TRIED_CANDIDATES = 8
"""With remodel="candidate", how many of the best candidates get a refit of their own."""


class Remodeller:
    """Refits a bank of models to growing sets of features."""

    def __init__(
        self,
        rows: Rows | SpreadRows,
        n_levels: Ints,
        config: CpdConfig,
        fits: Sequence[CpdFit],
        n_configurations: int,
        workers: Workers,
        observed: Floats,
    ) -> None:
        self._rows, n_states = rows, states_per_class(rows, config.rank)
        self._bank = bank_of(rows, n_states, len(fits), config.smoothing, workers)
        self._n_levels = n_levels
        self._fits = list(fits)
        self._budget, self._seed, self._workers = n_configurations, config.seed, workers
        self._observed = observed
        self.parameters = self._bank.parameters_of(fits)

    def refit(self, chosen: Sequence[int]) -> Parameters:
        """Parameters after some iterations that see only the chosen features and the label."""
        hidden = self._rows.focused(chosen).hidden
        parameters = self.parameters
        for _ in range(REFIT_ITERATIONS):
            self._bank.expect(parameters, hidden)
            parameters = self._bank.maximise()
        return parameters

    def fits(self, parameters: Parameters) -> list[CpdFit]:
        """The models with these parameters; the evidence stays that of the first fit."""
        return [
            replace(fit, **to_fit(self._bank, parameters, self._n_levels, m))
            for m, fit in enumerate(self._fits)
        ]

    def objective(self, parameters: Parameters, chosen: Sequence[int]) -> AveragedObjective:
        """The objective under these parameters, with the chosen features in S."""
        fits = self.fits(parameters)
        objective = AveragedObjective(fits, self._budget, self._seed, self._workers, self._observed)
        for feature in chosen:
            objective.add(feature)
        return objective


def choose_remodelled(
    remodeller: Remodeller,
    first: AveragedObjective,
    method: GsmCpd,
    task: Task,
    done: Completed,
) -> tuple[list[Step], AveragedObjective]:
    """Like `greedy.choose`, with a refit after every choice; also the objective it ended with.

    The steps that `done` holds are not made again; each new one is added with its refit.
    """
    objective, n_evaluations = _resumed(remodeller, first, task, done)
    steps = done.steps
    while len(steps) < task.n_select:
        step = _next_step(remodeller, objective, method, task, steps)
        n_evaluations += objective.n_evaluations
        chosen = [*(s.feature for s in steps), step.feature]
        remodeller.parameters = remodeller.refit(chosen)
        steps.append(step)
        done.refit = Refit(remodeller.parameters, n_evaluations)
        if task.on_step is not None:
            task.on_step(step)
        objective = remodeller.objective(remodeller.parameters, chosen)
    objective.n_evaluations += n_evaluations
    return steps, objective


def _resumed(
    remodeller: Remodeller, first: AveragedObjective, task: Task, done: Completed
) -> tuple[AveragedObjective, int]:
    """The objective after the steps that are done, and the evaluations they took."""
    if done.refit is None:
        return first, 0
    for step in done.steps:
        if task.on_step is not None:
            task.on_step(step)
    remodeller.parameters = done.refit.parameters
    chosen = [step.feature for step in done.steps]
    return remodeller.objective(done.refit.parameters, chosen), done.refit.n_evaluations


def _next_step(
    remodeller: Remodeller,
    objective: AveragedObjective,
    method: GsmCpd,
    task: Task,
    steps: list[Step],
) -> Step:
    chosen = [step.feature for step in steps]
    included = task.included[len(steps) : len(steps) + 1]
    informed = any(step.decided_by == "label" for step in steps)
    task = replace(task, informed=informed, chosen=tuple(chosen))
    rest = np.setdiff1d(task.candidates, [*chosen, *task.included])
    step = _one_step(objective, replace(task, candidates=rest, included=included))
    if method.remodel == "step" or included:
        return step
    by: Objective = "label" if step.decided_by == "label" else "latent"
    gains = objective.gains(rest, with_label=by == "label")
    values = gains.label if by == "label" else gains.latent
    tried = rest[np.argsort(-values, kind="stable")[:TRIED_CANDIDATES]]
    best = _best_refit(remodeller, task, by, chosen, tried)
    fresh = remodeller.objective(remodeller.parameters, chosen)
    return _one_step(fresh, replace(task, candidates=np.array([best]), included=()))


def _one_step(objective: AveragedObjective, task: Task) -> Step:
    return choose(objective, replace(task, n_select=1, on_step=None))[0]


def _best_refit(
    remodeller: Remodeller, task: Task, by: Objective, chosen: list[int], tried: Ints
) -> int:
    """Among some candidates, the one that informs most under a model fitted with it."""
    best, most = int(tried[0]), -np.inf
    for candidate in tried:
        if task.on_wait is not None:
            task.on_wait()
        together = [*chosen, int(candidate)]
        told = remodeller.objective(remodeller.refit(together), together).information()
        value = told.label if by == "label" else told.latent
        if value > most:
            best, most = int(candidate), value
    return best
