"""How the states of models that are fitted side by side stand in memory.

Restarts and cross-validation folds read the same codes, so their states stand next to each other in
the rows of one table and share every load. Symbols:

    C          classes that have states of their own (1 for the joint family)
    lane       one state of one model; model m owns lanes m * F .. (m + 1) * F
    W, tiles   lanes are cut into tiles of W (8, 16, 24 or 32) that kernels are compiled for
    slice      (class, tile), the first axis of every array of parameters
    level row  one level of one variable; row 0 stands for missing values
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.arrays import Floats, Ints
from core.cpd._lanes import LANES, MAX_WIDTH


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
