"""The nearest of some centres against distances written out, in numbers that do not round."""

from __future__ import annotations

import numpy as np
import pytest

from core.gsm._kernels import BLOCK, nearest


@pytest.mark.parametrize("n_points", [1, BLOCK - 1, BLOCK, 2 * BLOCK + 3])
@pytest.mark.parametrize("n_states", [1, 3, 4, 9])
def test_nearest_is_the_first_at_the_least_distance(n_points: int, n_states: int) -> None:
    """Eighths, so that there are ties and nothing is rounded; only points in the range are told."""
    rng = np.random.default_rng(n_points)
    points = (rng.integers(0, 4, (n_points, n_states)) / 8).astype(np.float32)
    centres = (rng.integers(0, 4, (n_states, 20)) / 8).astype(np.float32)
    group = np.full(n_points, -1)

    nearest(points, centres, 1, n_points, group)

    distances = ((points[:, :, None] - centres) ** 2).sum(axis=1)
    assert group.tolist() == [-1, *distances.argmin(axis=1)[1:]]
