"""The GSM-CPD method: what held-out rows say, then fit, greedy choice, certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from core.arrays import Ints
from core.budgets import ROWS_PER_STATE, worthwhile_ranks
from core.callbacks import OnWait, ignore
from core.config import GsmCpd
from core.cost.gsm import looked_at, steps_worth
from core.cpd.model import CpdFit
from core.cpd.rows import Rows
from core.cpd.spread import SpreadRows
from core.crossfit.choice import Configuration
from core.crossfit.folds import CrossFit, OnChosen, Plan
from core.data.problem import CodedProblem
from core.data.table import Table
from core.fit_config import CpdConfig
from core.gsm.certificate import band, certify
from core.gsm.chance import Chance, Occurring
from core.gsm.completed import Completed
from core.gsm.copies import find_copies
from core.gsm.counted import Counted, CutRows, has_one_state_each
from core.gsm.fitting import Fitting
from core.gsm.objective import NOTHING, AveragedObjective, Gains
from core.gsm.outcome import GsmOutcome
from core.gsm.overlap import overlaps
from core.gsm.proposal import Proposer
from core.gsm.remodel import Remodeller, choose_remodelled
from core.gsm.search import choose
from core.gsm.step import Step, Task
from core.results.selection import Certificate, Phase
from core.workers import Workers

DOUBTED = 0.5
"""The share of what held-out rows say that the model of all rows says of its own choice at least:
in all worlds but those where it goes astray it was 0.69 or more."""

USUAL_STATES = 20
"""So many as mostly do; where rows are few, one state for each class takes what columns repeat for
news, and is so sure of it that it loses against knowing nothing."""

GAINS_AT_A_TIME = 256
"""Features whose gains are computed between two looks at whether somebody wants to stop."""

ROWS_A_STEP = 2**16
"""To go through so many takes as long as a step."""

Tell = Callable[[Phase, float, float | None, Step | None], None]


def plan_gsm(
    table: Table,
    k: int | None,
    method: GsmCpd,
    workers: Workers,
    tell: Tell = ignore,
    on_chosen: OnChosen = ignore,
) -> Plan:
    """What held-out rows say about cuts, rank and number of features."""
    owners = int(np.count_nonzero(table.class_weights)) if method.family == "per_class" else 1
    ranks = worthwhile_ranks(method.ranks, table.total_weight, owners)
    folds = CrossFit(
        table, method.n_folds, Proposer(method), workers,
        lambda done: tell("rank", done, None, None), on_chosen,
        may_hear=method.may_hear_others,
    )  # fmt: skip
    return folds.plan(ranks, k, _without_a_say(table, ranks[0], method))


def check_gsm(
    table: Table, steps: Sequence[Step], plan: Plan, method: GsmCpd, workers: Workers, wait: OnWait
) -> Plan:
    """The plan with what this very choice tells, where that is less than what those of folds do.

    Seldom all rows go astray though most folds do not, as with three columns that tell together
    only. Then their model says far less of its own choice than held-out rows said of others, where
    mostly it says more: only such a choice is held against rows again.
    """
    k, told = len(steps), plan.held_out.information
    if not 0 < k < len(told) or steps[-1].information.label >= DOUBTED * told[k]:
        return plan
    folds = CrossFit(table, method.n_folds, Proposer(method), workers, lambda _: wait())
    alone = folds.of_choice([step.feature for step in steps], plan.chosen.strategy)
    return plan.of_choice(alone.plan((plan.chosen.rank,), k), k)


def _without_a_say(table: Table, least: int, method: GsmCpd) -> Configuration | None:
    """How to choose about a label of which held-out rows learn nothing otherwise."""
    if method.objective != "label":
        return None
    usual = max((rank for rank in method.ranks if rank <= USUAL_STATES), default=least)
    enough = int(table.total_weight / ROWS_PER_STATE)
    return Configuration(table.strategies[0], max(least, min(usual, enough)))


def select_gsm(
    problem: CodedProblem,
    k: int,
    method: GsmCpd,
    rank: int,
    tell: Tell = ignore,
    completed: Completed | None = None,
    focus: tuple[int, ...] = (),
    plain: CodedProblem | None = None,
    hears_counts: bool = False,
) -> GsmOutcome:
    """Choose k features under models of one rank.

    If there is a `focus`, the states explain those features alone, and they are chosen first.
    `plain` is the same table cut in the plainest way: half of the models are fitted to it and have
    a say in what is chosen, but the models of the outcome are the others. If it `hears_counts`,
    gains are capped by what rows show beside each of the chosen.

    What `completed` holds is not computed again; what is computed is added to it.
    """
    done = completed or Completed()
    config = method.cpd(rank=rank, seed=problem.seed, n_threads=problem.n_threads)
    fitting = Fitting(problem, plain, method, config, focus, partial(_tell_fit, tell), done)

    def select(n_distinct: int | None, rows: Rows | SpreadRows | None = None) -> GsmOutcome:
        fits, n_own = done.fits or [], fitting.n_models
        with Workers(problem.n_threads) as workers:
            return _Selection(
                problem, k, method, rows, n_distinct, fits[:n_own], done, workers, tell, focus,
                plain, fits[n_own:], hears_counts,
            ).run(config)  # fmt: skip

    if method.remodel == "none":
        return select(fitting.fit_and_forget())
    with fitting.gather() as rows:
        done.complete_fits(done.fits or fitting.fit(problem, rows))
        return select(rows.n_distinct, rows)


def _tell_fit(tell: Tell, done: float, loglik: float | None) -> None:
    tell("fit", done, loglik, None)


@dataclass
class _Selection:
    """The greedy phase under fitted models, and what is said about its outcome."""

    problem: CodedProblem
    k: int
    method: GsmCpd
    rows: Rows | SpreadRows | None
    n_distinct: int | None
    fits: list[CpdFit]
    done: Completed
    workers: Workers
    tell: Tell
    focus: tuple[int, ...] = ()
    plain: CodedProblem | None = None
    plain_fits: Sequence[CpdFit] = ()
    hears_counts: bool = False

    def __post_init__(self) -> None:
        self.copies = find_copies(self.problem)
        self.chance = Chance.of(
            Occurring.of(self.problem), self.fits[0].rank, self.method.objective
        )

    def run(self, config: CpdConfig) -> GsmOutcome:
        self.tell("select", 0.0, None, None)
        objective = self._objective()
        searched = np.union1d(self.problem.candidates, self.problem.included).astype(np.int64)
        first_gains = self._gains(objective, searched, (0.0, 0.0), with_label=True)
        task = self._task()
        if self.method.remodel != "none":
            steps, objective = self._remodel(config, objective, task)
        else:
            steps = choose(objective, task, self.done.steps)
        rest = np.setdiff1d(searched, _features(steps))
        left = self._gains(
            objective,
            rest,
            (self._done(self.k), self._nearly_done),
            with_label=self.method.objective == "label",
        )
        outcome = GsmOutcome(
            method=self.method,
            steps=steps,
            fits=self.fits,
            rank=self.fits[0].rank,
            certificate=self._certify(steps, left, objective) if steps else None,
            left=left,
            first_gains=first_gains,
            overlaps=overlaps(self.fits, _features(steps), self.workers, self._wait),
            chance=self.chance,
            copies=self.copies,
            n_evaluations=objective.n_evaluations,
            n_distinct_rows=self.n_distinct,
        )
        self.tell("select", 1.0, None, None)
        return outcome

    def _wait(self) -> None:
        self.tell("select", self._nearly_done, None, None)

    @property
    def _nearly_done(self) -> float:
        """When there is only something left to be said about the outcome."""
        return (1 + self._done(self.k)) / 2

    def _gains(
        self,
        objective: AveragedObjective,
        features: Ints,
        within: tuple[float, float],
        *,
        with_label: bool,
    ) -> Gains:
        """Gains of many features, some at a time: a whole table takes seconds."""
        parts, n_features, (low, high) = [], max(len(features), 1), within
        for start in range(0, n_features, GAINS_AT_A_TIME):
            self.tell("select", low + (high - low) * start / n_features, None, None)
            some = features[start : start + GAINS_AT_A_TIME]
            parts.append(objective.gains(some, with_label=with_label))
        return Gains.joined(parts)

    def _objective(self) -> AveragedObjective:
        fits, budget = [*self.fits, *self.plain_fits], self.method.n_configurations
        seed, observed = self.problem.seed, self.chance.observed
        return AveragedObjective(fits, budget, seed, self.workers, observed)

    def _task(self) -> Task:
        done = 0

        def on_step(step: Step) -> None:
            nonlocal done
            done += 1
            self.tell("select", self._done(done), None, step)

        return Task(
            objective=self.method.objective,
            n_select=self.k,
            candidates=np.array(self.problem.searched, dtype=np.int64),
            included=self.problem.included,
            chance=self.chance,
            copies=self.copies,
            counted=Counted([CutRows(cut) for cut in (self.problem, self.plain) if cut]),
            is_capped=self.hears_counts
            or has_one_state_each(self.problem, self.method, self.fits[0]),
            focus=self.focus,
            lazy=self.method.greedy == "lazy",
            on_step=on_step,
            on_wait=lambda: self.tell("select", self._done(done), None, None),
        )

    def _done(self, n_steps: int) -> float:
        """Of the phase: at its end all features are looked at as closely as steps look at some.

        And all rows are gone through for what is said about the table.
        """
        n_features = len(self.problem.n_levels)
        said = n_features / looked_at(n_features) + self.problem.n_rows / ROWS_A_STEP
        whole = steps_worth(self.k) + said
        return steps_worth(n_steps) / whole

    def _remodel(
        self, config: CpdConfig, objective: AveragedObjective, task: Task
    ) -> tuple[list[Step], AveragedObjective]:
        """Choose under a model that follows the choice; the last one becomes the model."""
        assert self.rows is not None
        remodeller = Remodeller(
            self.rows,
            self.problem.table_levels,
            config,
            self.fits,
            self.method.n_configurations,
            self.workers,
            self.chance.observed,
        )
        steps, objective = choose_remodelled(remodeller, objective, self.method, task, self.done)
        self.fits = remodeller.fits(remodeller.parameters)
        return steps, objective

    def _certify(
        self, steps: Sequence[Step], left: Gains, objective: AveragedObjective
    ) -> Certificate:
        """With a model for every step, only the last set speaks about the last model."""
        last_bounds = np.full(len(self.problem.n_levels), -1.0)
        last_bounds[left.features] = left.latent
        prefixes = [(objective.information(), last_bounds)]
        if self.method.remodel == "none":
            before = [NOTHING, *(step.information for step in steps)]
            prefixes += [(g, step.bounds) for g, step in zip(before, steps, strict=False)]
        fits = [*self.fits, *self.plain_fits]
        bands = [band(fit, self.problem.seed, self._wait) for fit in fits]
        return certify(prefixes, len(steps), objective, float(np.mean(bands)))


def _features(steps: Sequence[Step]) -> list[int]:
    return [step.feature for step in steps]
