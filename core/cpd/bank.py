"""A bank of models fitted side by side on the same packed rows.

Restarts and cross-validation folds read the same codes, so their states stand next to each other in
the rows of one table and share every load. Symbols:

    C          classes that have states of their own (1 for the joint family)
    lane       one state of one model; model m owns lanes m * F .. (m + 1) * F
    W, tiles   lanes are cut into tiles of W (8, 16, 24 or 32) that kernels are compiled for
    slice      (class, tile), the first axis of every array of parameters
    level row  one level of one variable; row 0 stands for missing values
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.arrays import Floats, Ints, Singles, Truths
from core.cpd import _counting_kernels as counting
from core.cpd import _kernels as kernels
from core.cpd._lanes import LANES, MAX_WIDTH
from core.cpd.model import CpdFit
from core.cpd.rows import Rows
from core.workers import Workers

Hidden = Truths | None

PROB_FLOOR = 1e-30
NO_WEIGHT = np.float32(-1e30)


@dataclass(frozen=True)
class Layout:
    """How lanes are cut into tiles."""

    n_models: int
    n_states: int
    width: int
    n_tiles: int

    @classmethod
    def of(cls, n_models: int, n_states: int) -> Layout:
        """Tiles as narrow as their number allows."""
        lanes = n_models * n_states
        n_tiles = -(-lanes // MAX_WIDTH)
        width = -(-lanes // (n_tiles * LANES)) * LANES
        return cls(n_models, n_states, width, n_tiles)

    @property
    def model_start(self) -> Ints:
        """(n_models + 1,) first lane of each model."""
        return np.arange(self.n_models + 1, dtype=np.int64) * self.n_states

    def to_tiles(self, lanes: Floats) -> Floats:
        """(C, ..., n_models * F) -> (C * n_tiles, ..., W), unused lanes zero."""
        padding = self.width * self.n_tiles - lanes.shape[-1]
        padded = np.concatenate([lanes, np.zeros((*lanes.shape[:-1], padding))], axis=-1)
        cut = padded.reshape(*lanes.shape[:-1], self.n_tiles, self.width)
        tiles = np.moveaxis(cut, -2, 1)
        return np.ascontiguousarray(tiles).reshape(-1, *lanes.shape[1:-1], self.width)

    def to_lanes(self, tiles: NDArray[np.floating]) -> Floats:
        """(C * n_tiles, ..., W) -> (C, ..., n_models, F)."""
        by_class = tiles.reshape(-1, self.n_tiles, *tiles.shape[1:])
        lanes = np.moveaxis(by_class, 1, -2).reshape(by_class.shape[0], *tiles.shape[1:-1], -1)
        used = lanes[..., : self.n_models * self.n_states]
        return used.reshape(*used.shape[:-1], self.n_models, self.n_states).astype(np.float64)


@dataclass(frozen=True)
class Parameters:
    """States of all models, in tiles: `weights` (slices, W), `probs` (slices, level rows, W)."""

    weights: Floats
    probs: Floats


class Bank:
    """The E- and M-step of all models of a bank over the same rows."""

    def __init__(
        self, rows: Rows, n_states: Ints, scale: Singles, smoothing: float, workers: Workers
    ) -> None:
        """Make room for the models.

        `n_states` (C,) is the number of states of each class; `scale` (n_rows, n_models) the weight
        of each row in each model, zero where the row is held out.
        """
        n_models = scale.shape[1]
        self.rows = rows
        self.n_states = n_states
        self.scale = scale
        self.layout = Layout.of(n_models, int(n_states.max()))
        self.smoothing = smoothing
        self.workers = workers
        self._width = (0,) * self.layout.width
        n_slices = len(n_states) * self.layout.n_tiles
        shape = (n_slices, int(rows.var_start[-1]), self.layout.width)
        n_nodes = len(rows.packed.tree.node_parent)
        self._logs = np.zeros(shape, dtype=np.float32)
        self._level_counts = np.zeros(shape)
        self._table = np.zeros((n_slices, n_nodes, self.layout.width), dtype=np.float32)
        self._penalty = np.zeros((n_slices, len(rows.var_start) - 1, self.layout.width))
        n_rows = rows.packed.codes.shape[1]
        self._resp = np.zeros((self.layout.n_tiles, n_rows, self.layout.width), dtype=np.float32)
        n_blocks = len(rows.packed.block_class)
        self._block_mass = np.zeros(
            (n_blocks, self.layout.n_tiles, self.layout.width), dtype=np.float32
        )
        self.row_loglik = np.zeros((n_rows, n_models))

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

    def expect(self, parameters: Parameters, hidden: Hidden = None) -> tuple[Floats, Floats]:
        """E-step. (C, n_models) sums over rows of log-likelihood, and of log-prior.

        Variables in the mask `hidden` (n_vars,), or that the rows hide, are treated as missing in
        every row.
        """
        penalty = self._prepare_tables(parameters, self.rows.hidden if hidden is None else hidden)
        self._fill_posteriors(parameters, self.rows.packed.block_class, self.scale)
        per_row = self.scale * (self.row_loglik + self.rows.base[:, None])
        loglik: Floats = np.add.reduceat(per_row, self.rows.class_start, axis=0)
        return loglik, penalty

    def posterior(self, parameters: Parameters, hide: int) -> Floats:
        """(n_rows, n_models, F) P(Z | row) of the first class without variable `hide`."""
        hidden = np.arange(self.rows.n_vars) == hide
        self._prepare_tables(parameters, hidden)
        self._fill_posteriors(parameters, self.rows.packed.block_class, np.ones_like(self.scale))
        posteriors: Floats = self.layout.to_lanes(self._resp)[0]
        return posteriors

    def class_loglik(self, parameters: Parameters, class_index: int) -> Floats:
        """(n_rows, n_models) log P(row | class), up to a constant of the row."""
        self._prepare_tables(parameters, None)
        everyone = np.full_like(self.rows.packed.block_class, class_index)
        self._fill_posteriors(parameters, everyone, self.scale)
        return self.row_loglik.copy()

    def _fill_posteriors(self, parameters: Parameters, block_class: Ints, scale: Singles) -> None:
        packed = self.rows.packed
        log_weights = self._log_weights(parameters)

        def task(b0: int, b1: int) -> None:
            kernels.expect(
                packed.codes, packed.tree.leaf_start, packed.blocks, block_class, b0, b1,
                self._table, log_weights, self.layout.model_start, scale, self._resp,
                self.row_loglik, self._block_mass, self._width,
            )  # fmt: skip

        self.workers.run_ranges(task, len(block_class))

    def maximise(self) -> Parameters:
        """M-step from the responsibilities of the last E-step."""
        packed, tree = self.rows.packed, self.rows.packed.tree
        probs = np.empty_like(self._level_counts)
        probs[:, 0] = 1

        def task(g0: int, g1: int) -> None:
            v0, v1 = tree.group_vars[g0], tree.group_vars[g1]
            l0, l1 = self.rows.var_start[v0], self.rows.var_start[v1]
            level_counts = self._level_counts
            level_counts[:, l0:l1] = 0
            counting.collect(
                packed.blocks, packed.block_class, packed.stretches, packed.order, packed.run_ptr,
                packed.run_code, packed.run_end, tree.node_parent, tree.node_level,
                tree.group_nodes, tree.leaf_start, g0, g1, self._resp, self._table, level_counts,
                self._width,
            )  # fmt: skip
            counting.update(
                level_counts, self.rows.var_start, v0, v1, self.rows.marginal, self.smoothing, probs
            )

        self.workers.run_ranges(task, len(tree.leaf_start))
        return Parameters(self._new_weights(), probs)

    def _prepare_tables(self, parameters: Parameters, hidden: Hidden) -> Floats:
        rows, tree = self.rows, self.rows.packed.tree

        def task(g0: int, g1: int) -> None:
            v0, v1 = tree.group_vars[g0], tree.group_vars[g1]
            kernels.take_logs(
                parameters.probs,
                rows.var_start,
                v0,
                v1,
                rows.marginal,
                PROB_FLOOR,
                self._logs,
                self._penalty,
            )
            if hidden is not None:
                l0, l1 = rows.var_start[v0], rows.var_start[v1]
                hidden_levels = np.repeat(hidden[v0:v1], np.diff(rows.var_start[v0 : v1 + 1]))
                self._logs[:, l0:l1][:, hidden_levels] = 0
            n0, n1 = tree.group_nodes[g0], tree.group_nodes[g1]
            kernels.fill_tables(
                tree.node_parent, tree.node_level, n0, n1, self._logs, self._table, self._width
            )

        self.workers.run_ranges(task, len(tree.leaf_start))
        per_state = self.layout.to_lanes(self._penalty.sum(axis=1))
        total: Floats = self.smoothing * np.einsum("cmf,cf->cm", per_state, self.state_mask)
        return total

    def _log_weights(self, parameters: Parameters) -> Singles:
        with np.errstate(divide="ignore"):
            logs = np.log(parameters.weights)
        return np.maximum(logs, NO_WEIGHT).astype(np.float32)

    def _new_weights(self) -> Floats:
        """Share of each state in its class; a class without rows of its own spreads evenly."""
        block_start = np.flatnonzero(np.diff(self.rows.packed.block_class, prepend=-1))
        mass = np.add.reduceat(self._block_mass, block_start, axis=0, dtype=np.float64)
        # A state that its class does not have keeps the floor of every row's posteriors: a share of
        # e^-80 would come alive where rows lie further than that from all states of their class.
        states = self.layout.to_lanes(mass.reshape(-1, self.layout.width))
        per_state = states * self.state_mask[:, None, :]
        total = per_state.sum(axis=-1, keepdims=True)
        even = (self.state_mask / self.n_states[:, None])[:, None, :]
        share = np.where(total > 0, per_state / np.where(total > 0, total, 1), even)
        return self.layout.to_tiles(share.reshape(share.shape[0], -1))
