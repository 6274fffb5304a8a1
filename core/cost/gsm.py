"""The work of GSM-CPD: held-out rows are asked, models fitted, features chosen under them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from core.budgets import (
    COARSE_GROUPS,
    CROSS_ROWS,
    FEW_FEATURES,
    LEAST_PAIR_ROWS,
    MAX_PAIR_COUNTS,
    MOST_PAIR_ROWS,
    QUICK_CONFIGURATIONS,
    QUICK_ITERATIONS,
    REFIT_ITERATIONS,
    TRIAL_ITERATIONS,
    is_many,
    is_spread,
    worthwhile_ranks,
)
from core.config import Discretize, GsmCpd
from core.cost.crossfit import CLIMBED, CrossFitting, climbing
from core.cost.engines import EngineName, keep
from core.cost.work import Work
from core.memory import LANES, TableShape
from core.results.selection import Decided

LEAST_ITERATIONS, FEATURE_ITERATIONS = 8, 600
"""So many, and the second number divided by that of the features, which leave the less doubt about
the state of a row the more they are."""

LAST_ITERATIONS = 10
"""On all rows, after a fit to a few of them."""

ROW_UPDATES, CELL_UPDATES, PARAMETER_UPDATES = 24, 0.18, 68
"""What the posterior of a row, a cell of it and a parameter take an iteration."""

PAIR_COUNTS = 0.6
"""What a row of a pair of columns takes; pairs that others make up for are not counted."""

EVALUATED, EVALUATED_SHARE = 12, 1 / 40
"""Features that a lazy step looks at closely: so many, and that share of all."""

STEP_CALLS, MOST_CLOSE = 15, 60
"""Of a step, however few the features; those that are nearly as good as the best."""

EXACT_STEPS, EXACT_WORTH = 3, 0.3
EXACT_CONFIGURATIONS = 30
SAMPLED = 0.7
QUICK_SAMPLED = 0.5
"""So many steps have few configurations; then the share of those allowed that leave a doubt."""


def usual_iterations(n_features: int) -> float:
    """Until a fit has converged."""
    return LEAST_ITERATIONS + FEATURE_ITERATIONS / n_features


def usual_fit(n_rows: int, n_features: int) -> float:
    """Iterations on all rows, those of restarts among them."""
    if is_many(n_rows):
        return LAST_ITERATIONS
    return TRIAL_ITERATIONS + usual_iterations(n_features)


def steps_worth(n_steps: int) -> float:
    """Of steps, the first of which are quickly made, in later ones."""
    return EXACT_WORTH * min(n_steps, EXACT_STEPS) + max(n_steps - EXACT_STEPS, 0)


def calls_of_step(n_features: int) -> float:
    """What decides between features takes, until most of them are out of the question."""
    return STEP_CALLS + min(n_features, MOST_CLOSE) / 3 + n_features / 80


def looked_at(n_features: int) -> float:
    """Features that a lazy step evaluates."""
    return min(n_features, EVALUATED + EVALUATED_SHARE * n_features)


@dataclass(frozen=True)
class GsmWork:
    """What one selection takes, phase by phase."""

    shape: TableShape
    method: GsmCpd
    discretize: Discretize
    k: int | None
    decided: Decided | None = None
    engine: EngineName = "memory"

    @property
    def _n_owners(self) -> int:
        return self.shape.n_classes if self.method.family == "per_class" else 1

    @property
    def ranks(self) -> tuple[int, ...]:
        """Between which held-out rows decide."""
        return worthwhile_ranks(self.method.ranks, self.shape.n_rows, self._n_owners)

    @property
    def rank(self) -> int:
        """The one that is likely to be taken: as far up as the folds climb on average."""
        if self.decided is not None:
            return self.decided.rank
        n_climbed = int(CLIMBED / (1 - climbing(self.shape.n_classes)))
        return self.ranks[: 1 + max(n_climbed, 1)][-1]

    @property
    def _folds(self) -> CrossFitting:
        return CrossFitting(self.shape, self.discretize, self.k, self.method.n_folds)

    @property
    def _hears_plainer(self) -> bool:
        """Whether columns cut at equal width are likely to have a say beside others."""
        if self.decided is not None:
            return self.decided.hears_plainer
        return self.method.may_hear_others and self._folds.n_strategies > 1

    @property
    def _n_heard(self) -> int:
        """Models under which features are chosen: as many of either cut, where two have a say."""
        n_models = self.method.n_models
        return 2 * ceil(n_models / 2) if self._hears_plainer else n_models

    def search(self) -> Work:
        """What held-out rows are asked."""
        folds = self._folds
        work = folds.learn()
        for rank, n_paths in zip(self.ranks, folds.n_paths(len(self.ranks)), strict=True):
            work += self._race(folds, rank) * n_paths
        if self._is_fitted(max(self.ranks)):
            work += (self._pack(folds.n_train) + self._pair(folds.n_train)) * folds.n_folds
        longer = folds.measure(folds.length, self.rank) + folds.score(self.rank)
        if self.method.may_hear_others and self.rank > self.shape.n_classes:
            counting = self._quick_steps(self.rank, folds.race_length)
            longer += (counting + folds.measure(folds.race_length, self.rank)) * CLIMBED
        if self._hears_plainer:
            longer += self._quick_steps(self.rank, folds.length) * 2
            longer += self._quick_fit(folds.n_train, self.rank)
        else:
            longer += self._quick_steps(self.rank, folds.length - folds.race_length)
        return work + longer * folds.n_folds

    def fit(self) -> Work:
        """Restarts on a few rows, the best of them on all."""
        method, n_rows = self.method, self.shape.n_rows
        few = CROSS_ROWS if is_many(n_rows) else n_rows
        work = (self._pack(n_rows) + self._encode(n_rows)) * (2 if self._hears_plainer else 1)
        if self.rank > self.shape.n_classes:
            work += self._pair(n_rows)
        n_trial = min(TRIAL_ITERATIONS, method.max_iter)
        work += self._iterate(few, max(method.n_init, method.n_models), n_trial)
        work += self._iterate(few, method.n_models, self._n_iter(method.max_iter - n_trial))
        if few < n_rows:
            n_last = min(LAST_ITERATIONS, method.max_iter)
            work += self._iterate(n_rows, method.n_models, n_last)
            if is_spread(n_rows, self.shape.n_features):
                work += keep(self.shape, self.engine, n_last)
        return work

    def select(self, k: int) -> Work:
        """Steps under the fitted models, and what is said about their outcome."""
        method, n_features = self.method, self.shape.n_features
        lazy = method.greedy == "lazy"
        n_looked_at = looked_at(n_features) if lazy else n_features
        n_sampled = SAMPLED * method.n_configurations
        exact = self._step(EXACT_CONFIGURATIONS, n_features, grouped=False)
        sampled = self._step(n_sampled, n_looked_at, grouped=lazy)
        left = self._step(n_sampled if k > EXACT_STEPS else EXACT_CONFIGURATIONS, n_features)
        work = left * 2 + exact * min(k, EXACT_STEPS) + sampled * max(k - EXACT_STEPS, 0)
        work = work * self._n_heard + self._remodel() * k
        said = Work(calls=n_features * (3 + method.n_models)) + self._encode(self.shape.n_rows)
        return work + said

    def _race(self, folds: CrossFitting, rank: int) -> Work:
        """One path of one fold, with its fit."""
        work = self._quick_steps(rank, folds.race_length) + folds.measure(folds.race_length, rank)
        return work + self._quick_fit(folds.n_train, rank)

    def _quick_fit(self, n_rows: float, rank: int) -> Work:
        """Of one model to the rows of a fold."""
        if not self._is_fitted(rank):
            return Work()
        n_iter = self._n_iter(min(QUICK_ITERATIONS, self.method.max_iter))
        return self._iteration(n_rows, rank, 1) * n_iter

    def _n_iter(self, allowed: int) -> float:
        return min(usual_iterations(self.shape.n_features), allowed)

    def _is_fitted(self, rank: int) -> bool:
        """One state for each class needs no iterations."""
        return self.method.family == "joint" or rank > self.shape.n_classes

    def _iterate(self, n_rows: int, n_models: int, n_iter: float) -> Work:
        return self._iteration(n_rows, self.rank, n_models) * n_iter

    def _iteration(self, n_rows: float, rank: int, n_models: int) -> Work:
        """Rows and their cells, of which several share a byte, then parameters."""
        n_states = -(-rank // self._n_owners)
        n_lanes = -(-n_models * n_states // LANES) * LANES
        rows = n_rows * (ROW_UPDATES + CELL_UPDATES * self.shape.n_features)
        parameters = sum(self.shape.n_levels) * self._n_owners
        return Work(calls=8, updates=n_lanes * (rows + PARAMETER_UPDATES * parameters))

    def _pack(self, n_rows: float) -> Work:
        """Bring rows into the order in which EM visits them."""
        n_features = self.shape.n_features
        return Work(calls=n_features, counts=5 * n_rows * n_features)

    def _encode(self, n_rows: float) -> Work:
        return Work(counts=2 * n_rows * self.shape.n_features)

    def _pair(self, n_rows: float) -> Work:
        """Look for pairs that tell what neither of the two does."""
        n_pairs = max(self.shape.n_features * (self.shape.n_features - 1) / 2, 1)
        allowed = min(MAX_PAIR_COUNTS / n_pairs, MOST_PAIR_ROWS)
        if self.method.objective != "label" or allowed < min(LEAST_PAIR_ROWS, n_rows):
            return Work()
        return Work(counts=PAIR_COUNTS * n_pairs * min(n_rows, allowed))

    def _quick_steps(self, rank: int, n_steps: int) -> Work:
        """Under the model of a fold, with fewer configurations."""
        n_features, lazy = self.shape.n_features, self.shape.n_features > FEW_FEATURES
        n_configurations = min(self.method.n_configurations, QUICK_CONFIGURATIONS) * QUICK_SAMPLED
        n_looked_at = looked_at(n_features) if lazy else n_features
        return self._step(n_configurations, n_looked_at, rank, grouped=lazy) * n_steps

    def _step(
        self,
        n_configurations: float,
        n_looked_at: float,
        rank: int | None = None,
        *,
        grouped: bool = False,
    ) -> Work:
        """One greedy step under one model; bounds come from configurations in groups."""
        n_levels, n_states = sum(self.shape.n_levels), rank or self.rank
        gains = n_looked_at / self.shape.n_features * n_levels * n_configurations
        if grouped:
            n_groups = min(COARSE_GROUPS, n_configurations)
            gains += n_groups * (n_levels + n_configurations)
        return Work(calls=calls_of_step(self.shape.n_features), gains=n_states * gains)

    def _remodel(self) -> Work:
        if self.method.remodel == "none":
            return Work()
        n_tried = 1 if self.method.remodel == "step" else 9
        refit = self._iterate(self.shape.n_rows, self.method.n_models, REFIT_ITERATIONS)
        return refit * n_tried + Work(calls=5 * self.shape.n_features)
