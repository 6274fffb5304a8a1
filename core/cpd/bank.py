"""A bank of models fitted side by side on the same rows. Symbols are those of `layout.py`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from core.arrays import Floats, Ints, Singles, Truths
from core.cpd import _counting_kernels as counting
from core.cpd import _kernels as kernels
from core.cpd.desk import Desk
from core.cpd.layout import Layout, Parameters
from core.cpd.model import CpdFit
from core.cpd.rows import Rows, RowSummary
from core.workers import Workers

Hidden = Truths | None

PROB_FLOOR = 1e-30
NO_WEIGHT = np.float32(-1e30)


def uniform_scale(weights: Floats, n_models: int) -> Singles:
    """(n_rows, n_models): every model learns from every row by its weight."""
    return np.repeat(weights[:, None], n_models, axis=1).astype(np.float32)


class Models(ABC):
    """The models of a bank, and what of their E- and M-step is no matter of single rows."""

    def __init__(
        self,
        rows: RowSummary,
        n_states: Ints,
        n_models: int,
        smoothing: float,
        workers: Workers,
    ) -> None:
        self.rows = rows
        self.n_states = n_states
        self.layout = Layout.of(n_models, int(n_states.max()))
        self.smoothing = smoothing
        self.workers = workers
        n_slices, width = len(n_states) * self.layout.n_tiles, self.layout.width
        self._logs = np.zeros((n_slices, int(rows.var_start[-1]), width), dtype=np.float32)
        self._penalty = np.zeros((n_slices, rows.n_vars, width))

    @abstractmethod
    def expect(self, parameters: Parameters, hidden: Hidden = None) -> tuple[Floats, Floats]:
        """E-step. (C, n_models) sums over rows of log-likelihood, and of log-prior.

        Variables in the mask `hidden` (n_vars,), or that the rows hide, are treated as missing in
        every row.
        """

    @abstractmethod
    def maximise(self) -> Parameters:
        """M-step from the responsibilities of the last E-step."""

    @abstractmethod
    def of_fewer(self, n_models: int) -> Models:
        """The same rows for fewer models, all of which learn from all rows."""

    @property
    @abstractmethod
    def row_weight(self) -> Floats:
        """(n_models,) weight of all the rows that each model learns from."""

    @property
    def state_mask(self) -> Truths:
        """(C, F): which states of the widest class each class has."""
        return np.arange(self.layout.n_states) < self.n_states[:, None]

    def parameters_of(self, fits: Sequence[CpdFit]) -> Parameters:
        """Parameters of models fitted to these very rows, with as many states."""
        n_classes, n_states = self.state_mask.shape
        owner, state = np.nonzero(self.state_mask)
        weights = np.zeros((n_classes, len(fits), n_states))
        probs = np.ones((n_classes, len(self.rows.marginal), len(fits), n_states))
        for m, fit in enumerate(fits):
            weights[owner, m, state] = fit.weights
            probs[owner, 1:, m, state] = np.concatenate(fit.factors[: self.rows.n_vars]).T
        weights /= weights.sum(axis=-1, keepdims=True)
        return Parameters(
            self.layout.to_tiles(weights.reshape(n_classes, -1)),
            self.layout.to_tiles(probs.reshape(n_classes, len(self.rows.marginal), -1)),
        )

    def _take_logs(self, parameters: Parameters, hidden: Hidden, v0: int, v1: int) -> None:
        """Logs of variables v0..v1, and what the prior says to them."""
        var_start, marginal = self.rows.var_start, self.rows.marginal
        kernels.take_logs(
            parameters.probs, var_start, v0, v1, marginal, PROB_FLOOR, self._logs, self._penalty
        )
        if hidden is not None:
            l0, l1 = var_start[v0], var_start[v1]
            hidden_levels = np.repeat(hidden[v0:v1], np.diff(var_start[v0 : v1 + 1]))
            self._logs[:, l0:l1][:, hidden_levels] = 0

    def _log_weights(self, parameters: Parameters) -> Singles:
        with np.errstate(divide="ignore"):
            logs = np.log(parameters.weights)
        return np.maximum(logs, NO_WEIGHT).astype(np.float32)

    def _log_prior(self) -> Floats:
        per_state = self.layout.to_lanes(self._penalty.sum(axis=1))
        total: Floats = self.smoothing * np.einsum("cmf,cf->cm", per_state, self.state_mask)
        return total

    def _update(self, level_counts: Floats, v0: int, v1: int, probs: Floats) -> None:
        """New distributions of variables v0..v1 from the sums of their levels."""
        rows = self.rows
        counting.update(level_counts, rows.var_start, v0, v1, rows.marginal, self.smoothing, probs)

    def _new_weights(self, mass: Floats) -> Floats:
        """Share of each state in its class; a class without rows of its own spreads evenly."""
        # A state that its class does not have keeps the floor of every row's posteriors: a share of
        # e^-80 would come alive where rows lie further than that from all states of their class.
        per_state = self.layout.to_lanes(mass) * self.state_mask[:, None, :]
        total = per_state.sum(axis=-1, keepdims=True)
        even = (self.state_mask / self.n_states[:, None])[:, None, :]
        share = np.where(total > 0, per_state / np.where(total > 0, total, 1), even)
        return self.layout.to_tiles(share.reshape(share.shape[0], -1))


class Bank(Models):
    """The E- and M-step of all models over rows that are at hand."""

    rows: Rows

    def __init__(
        self, rows: Rows, n_states: Ints, scale: Singles, smoothing: float, workers: Workers
    ) -> None:
        """Make room for the models.

        `n_states` (C,) is the number of states of each class; `scale` (n_rows, n_models) the weight
        of each row in each model, zero where the row is held out.
        """
        super().__init__(rows, n_states, scale.shape[1], smoothing, workers)
        self.scale = scale
        self._desk = Desk(rows.packed, self.layout, len(n_states), rows.var_start, workers)

    @property
    def row_weight(self) -> Floats:
        """(n_models,) weight of all the rows that each model learns from."""
        weight: Floats = self.scale.sum(axis=0, dtype=np.float64)
        return weight

    def of_fewer(self, n_models: int) -> Bank:
        """The same rows for fewer models, all of which learn from all rows."""
        scale = uniform_scale(self.rows.weights, n_models)
        return Bank(self.rows, self.n_states, scale, self.smoothing, self.workers)

    def expect(self, parameters: Parameters, hidden: Hidden = None) -> tuple[Floats, Floats]:
        """E-step, whose responsibilities are kept for the M-step."""
        desk, hidden = self._desk, self.rows.hidden if hidden is None else hidden

        def task(g0: int, g1: int) -> None:
            self._take_logs(parameters, hidden, *desk.variables_of(g0, g1))
            desk.fill_tables(self._logs, g0, g1)

        desk.over_groups(task)
        desk.fill_posteriors(self._log_weights(parameters), self.scale)
        per_row = self.scale * (desk.row_loglik + self.rows.base[:, None])
        loglik: Floats = np.add.reduceat(per_row, self.rows.class_start, axis=0)
        return loglik, self._log_prior()

    def maximise(self) -> Parameters:
        """M-step from the responsibilities of the last E-step."""
        desk = self._desk
        probs = np.empty_like(desk.level_counts)
        probs[:, 0] = 1

        def task(g0: int, g1: int) -> None:
            desk.collect(g0, g1)
            self._update(desk.level_counts, *desk.variables_of(g0, g1), probs)

        desk.over_groups(task)
        return Parameters(self._new_weights(desk.level_counts[:, 0]), probs)
