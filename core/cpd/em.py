"""Expectation maximisation: restarts side by side, losers dropped early, the rest accelerated."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from core.arrays import Bytes, Floats, Ints, Truths
from core.budgets import ROWS_PER_STATE, TRIAL_ITERATIONS
from core.callbacks import OnWait, ignore
from core.cpd.bank import Bank, Models, uniform_scale
from core.cpd.halfway import Halfway, OnHalfway
from core.cpd.layout import Parameters
from core.cpd.model import CpdFit
from core.cpd.rows import Rows, RowSummary, prepare_rows
from core.cpd.seeding import seed_parameters
from core.cpd.spread import SpreadRows, bank_of
from core.cpd.squarem import StepLengths, extrapolate
from core.cpd.thinning import thin
from core.fit_config import CpdConfig
from core.workers import Workers

OnIteration = Callable[[int, float], None]

FIRST_ITERATIONS = 20
"""On a few of the rows, before a fit to all of them: more would learn what only those few show."""

LAST_ITERATIONS = 30
LAST_SHARE = 0.3
"""On all rows, after a fit to a few of them: what is left to learn is what those did not show. So
many of the iterations asked for, at least the first number: more is done where more is wanted."""

KEPT_OF_FEW = 0.99
"""Of the distributions that a few rows gave; the rest is the marginal of all, so that a level which
they do not have can come back."""


def fit_cpd(
    codes: Bytes,
    n_levels: Ints | list[int],
    config: CpdConfig,
    row_weights: Floats | None = None,
    on_iteration: OnIteration | None = None,
) -> CpdFit:
    """Fit one low-rank model of the joint distribution of all variables.

    Parameters
    ----------
    codes : (n_rows, n_vars) uint8
        Level of every variable in every row, 255 where missing; the label is the last variable.
    n_levels : (n_vars,)
        Number of levels of each variable.
    config : CpdConfig
        Rank, family, restarts, stopping rule.
    row_weights : (n_rows,), optional
        Non-negative; a weight of two counts like the row twice.
    on_iteration : callable, optional
        Told the iteration and the mean log-likelihood; ends the fit by raising.
    """
    levels = np.asarray(n_levels, dtype=np.int64)
    rows = prepare_rows(codes, levels, config.family, row_weights)
    return fit_models(rows, levels, config, 1, on_iteration)[0]


def fit_models(
    rows: Rows | SpreadRows,
    n_levels: Ints,
    config: CpdConfig,
    n_models: int,
    on_iteration: OnIteration | None = None,
    on_wait: OnWait = ignore,
    on_few: OnIteration | None = None,
    halfway: Halfway | None = None,
    on_halfway: OnHalfway = ignore,
) -> list[CpdFit]:
    """Fit the `n_models` best of max(n_init, n_models) restarts, the best first.

    Restarts to many rows are made and followed on a few of them, and only end on all: `on_few` is
    told the iterations of the first part, `on_iteration` those on all rows. Once the best are
    followed on all rows, `on_halfway` is told now and then where they stand; a fit that is given
    that goes on from it.
    """
    n_states = states_per_class(rows, config.rank)
    few = rows.few if isinstance(rows, SpreadRows) else _thin(rows, n_levels, config)
    heard = on_iteration if few is rows else on_few
    most = config.max_iter if few is rows else last_iterations(config.max_iter)
    with Workers(config.n_threads) as pool:
        if halfway is not None:
            bank = bank_of(rows, n_states, n_models, config.smoothing, pool, on_wait)
            run = EmRun.resumed(bank, halfway, config, on_iteration)
        else:
            run = _begin(few, n_states, config, n_models, heard, on_wait, pool)
            if few is not rows:
                first = min(FIRST_ITERATIONS, config.max_iter)
                run.iterate(first - run.n_iter, until_converged=True)
                run = run.on_rows(rows, on_iteration, on_wait)
        run.iterate(most - run.n_iter, until_converged=True, on_halfway=on_halfway)
    return [to_cpd_fit(run, rows, n_levels, m) for m in range(n_models)]


def _begin(
    rows: Rows,
    n_states: Ints,
    config: CpdConfig,
    n_models: int,
    on_iteration: OnIteration | None,
    on_wait: OnWait,
    workers: Workers,
) -> EmRun:
    """The best of the restarts, some iterations after the last of the others was dropped."""
    scale = uniform_scale(rows.weights, max(config.n_init, n_models))
    bank = Bank(rows, n_states, scale, config.smoothing, workers)
    run = EmRun(bank, seed_parameters(bank, config.seed, on_wait), config, on_iteration)
    while run.n_models > n_models:
        run.iterate(min(TRIAL_ITERATIONS, config.max_iter - run.n_iter))
        run = run.keep_best(max(n_models, run.n_models // 2))
    return run


def _thin(rows: Rows, n_levels: Ints, config: CpdConfig) -> Rows:
    return thin(rows, n_levels, config.family, config.seed)


def last_iterations(max_iter: int) -> int:
    """The most there are on all rows where a fit to a few of them came before."""
    return min(max_iter, max(LAST_ITERATIONS, round(LAST_SHARE * max_iter)))


def states_per_class(rows: RowSummary, rank: int) -> Ints:
    """Deal the states to the classes: one each, then always to the class with most weight a state.

    No class gets more than its distinct rows, or than its weight is rows for.
    """
    weights = rows.class_weights
    if len(weights) == 1:
        return np.array([rank])
    most = np.minimum(weights // ROWS_PER_STATE, rows.class_sizes)
    states: Ints = np.ones(len(weights), dtype=np.int64)
    while states.sum() < rank and (states < most).any():
        states[np.argmax(np.where(states < most, weights / states, 0))] += 1
    return states


class EmRun:
    """A bank on its way: parameters, and the trace of every model in every class."""

    def __init__(
        self,
        bank: Models,
        start: Parameters,
        config: CpdConfig,
        on_iteration: OnIteration | None = None,
    ) -> None:
        self.bank = bank
        self.config = config
        self.on_iteration = on_iteration
        self.parameters = start
        self.loglik: list[Floats] = []
        self.objective: list[Floats] = []
        self.converged = np.zeros(bank.layout.n_models, dtype=bool)
        self._steps = StepLengths(len(bank.n_states), bank.layout.n_models)
        self._row_weight = bank.row_weight
        self._asked = start

    @classmethod
    def resumed(
        cls,
        bank: Models,
        halfway: Halfway,
        config: CpdConfig,
        on_iteration: OnIteration | None = None,
    ) -> EmRun:
        """The run that stood there."""
        run = cls(bank, halfway.parameters, config, on_iteration)
        run.loglik, run.objective = list(halfway.loglik), list(halfway.objective)
        run.converged, run._steps.longest = halfway.converged.copy(), halfway.longest.copy()
        run._tell()
        run._expect(halfway.asked)
        return run

    @property
    def n_models(self) -> int:
        """Models side by side."""
        return self.bank.layout.n_models

    @property
    def n_iter(self) -> int:
        """Iterations so far."""
        return len(self.loglik)

    def iterate(
        self, n_iter: int, until_converged: bool = False, on_halfway: OnHalfway = ignore
    ) -> None:
        """Go on for `n_iter` iterations, or until all models have converged."""
        stop = self.n_iter + n_iter
        if not self.loglik and n_iter > 0:
            self._record(self.parameters, *self._expect(self.parameters))
        while self.n_iter < stop and not (until_converged and self.converged.all()):
            on_halfway(self._halfway())
            before, origin = self.objective[-1], self.parameters
            step = self.bank.maximise()
            self._record(step, *self._expect(step))
            self.converged |= self._rise(before) < self.config.tol
            if self.config.accelerate and self.n_iter < stop and not self.converged.all():
                self._leap(origin, step)

    def keep_best(self, n_models: int) -> EmRun:
        """The run of the best models only; with classes, the best of each class are joined."""
        best = np.argsort(-self.objective[-1], axis=1, kind="stable")[:, :n_models]
        old = self.bank
        bank = old.of_fewer(n_models)
        kept = EmRun(bank, _pick(old, bank, self.parameters, best), self.config, self.on_iteration)
        kept.loglik = [np.take_along_axis(values, best, axis=1) for values in self.loglik]
        kept.objective = [np.take_along_axis(values, best, axis=1) for values in self.objective]
        kept._expect(kept.parameters)
        return kept

    def on_rows(
        self, rows: Rows | SpreadRows, on_iteration: OnIteration | None, on_wait: OnWait
    ) -> EmRun:
        """A run on other rows of the same variables and classes, from where this one is."""
        old = self.bank
        bank = bank_of(rows, old.n_states, self.n_models, old.smoothing, old.workers, on_wait)
        probs = KEPT_OF_FEW * self.parameters.probs
        probs += (1 - KEPT_OF_FEW) * rows.marginal[:, None]
        start = Parameters(self.parameters.weights, probs)
        return EmRun(bank, start, self.config, on_iteration)

    def mean(self, values: list[Floats]) -> Floats:
        """(n_iter, n_models) sums over classes, per unit of weight."""
        total: Floats = np.array(values).sum(axis=1) / self._row_weight
        return total

    def _halfway(self) -> Halfway:
        return Halfway(
            parameters=self.parameters,
            asked=self._asked,
            loglik=np.array(self.loglik),
            objective=np.array(self.objective),
            converged=self.converged.copy(),
            longest=self._steps.longest.copy(),
        )

    def _expect(self, parameters: Parameters) -> tuple[Floats, Floats]:
        self._asked = parameters
        return self.bank.expect(parameters)

    def _rise(self, before: Floats) -> Floats:
        rise: Floats = (self.objective[-1] - before).sum(axis=0) / self._row_weight
        return rise

    def _leap(self, origin: Parameters, first: Parameters) -> None:
        """Extrapolate from two steps; where that lowers the objective, take the second instead."""
        second = self.bank.maximise()
        leap = extrapolate(self.bank, origin, first, second, self._steps)
        loglik, prior = self._expect(leap)
        failed = loglik + prior < self.objective[-1]
        self._steps.adapt(failed)
        if failed.any():
            leap = _mix(self.bank, failed, second, leap)
            loglik, prior = self._expect(leap)
        self._record(leap, loglik, prior)

    def _record(self, parameters: Parameters, loglik: Floats, prior: Floats) -> None:
        """Accept the parameters, except where rounding at the end of a fit made them worse."""
        objective = loglik + prior
        if self.objective:
            worse = objective < self.objective[-1]
            parameters = _mix(self.bank, worse, self.parameters, parameters)
            loglik = np.where(worse, self.loglik[-1], loglik)
            objective = np.where(worse, self.objective[-1], objective)
        self.parameters = parameters
        self.loglik.append(loglik)
        self.objective.append(objective)
        self._tell()

    def _tell(self) -> None:
        if self.on_iteration is not None:
            best = (self.loglik[-1].sum(axis=0) / self._row_weight).max()
            self.on_iteration(self.n_iter, float(best))


def _mix(bank: Models, where: Truths, yes: Parameters, no: Parameters) -> Parameters:
    if not where.any():
        return no
    lanes = np.repeat(where.astype(np.float64), bank.layout.n_states, axis=1)
    mask = bank.layout.to_tiles(lanes) > 0
    weights = np.where(mask, yes.weights, no.weights)
    return Parameters(weights, np.where(mask[:, None, :], yes.probs, no.probs))


def _pick(old: Models, new: Models, parameters: Parameters, models: Ints) -> Parameters:
    """Parameters of the chosen models (C, n_models), in the new bank's tiles."""
    weights = np.take_along_axis(
        old.layout.to_lanes(parameters.weights), models[:, :, None], axis=1
    )
    probs = np.take_along_axis(
        old.layout.to_lanes(parameters.probs), models[:, None, :, None], axis=2
    )
    n_classes, n_rows = probs.shape[:2]
    return Parameters(
        new.layout.to_tiles(weights.reshape(n_classes, -1)),
        new.layout.to_tiles(probs.reshape(n_classes, n_rows, -1)),
    )


def to_cpd_fit(run: EmRun, rows: RowSummary, n_levels: Ints, model: int) -> CpdFit:
    """One model of a run, with the evidence of its fit."""
    loglik, objective = run.mean(run.loglik)[:, model], run.mean(run.objective)[:, model]
    if rows.n_vars < len(n_levels):
        share = rows.class_weights / rows.class_weights.sum()
        label_loglik = float(share @ np.log(share))
        loglik, objective = loglik + label_loglik, objective + label_loglik
    return CpdFit(
        **to_fit(run.bank, run.parameters, n_levels, model),
        loglik=loglik,
        objective=objective,
        n_iter=run.n_iter,
        converged=bool(run.converged[model]),
    )


def to_fit(bank: Models, parameters: Parameters, n_levels: Ints, model: int) -> dict[str, Any]:
    """`weights` and `factors` of one model, its states in canonical order."""
    rows = bank.rows
    weights, probs, owner = _states(bank, parameters, model)
    factors = [probs[lo:hi] for lo, hi in pairwise(rows.var_start)]
    if rows.n_vars < len(n_levels):
        owned = rows.classes[owner] == np.arange(n_levels[-1])[:, None]
        factors.append(owned.astype(np.float64))
    return {"weights": weights, "factors": factors}


def _states(bank: Models, parameters: Parameters, model: int) -> tuple[Floats, Floats, Ints]:
    """Weights (F,), level probabilities (n_level_rows, F) and owners (F,), in canonical order."""
    class_share = bank.rows.class_weights / bank.rows.class_weights.sum()
    weights = bank.layout.to_lanes(parameters.weights)[:, model] * class_share[:, None]
    probs = bank.layout.to_lanes(parameters.probs)[:, :, model]
    owner, state = np.nonzero(bank.state_mask)
    order = np.lexsort((-weights[owner, state], owner))
    owner, state = owner[order], state[order]
    return weights[owner, state], np.ascontiguousarray(probs[owner, :, state].T), owner
