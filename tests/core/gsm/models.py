"""Known models small enough for the full tensor."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tests.core.reference import Model
from tests.core.worlds import random_model

TINY_LEVELS = [2, 3, 1, 2, 4, 3]


def tiny_models(seed: int, n_models: int, owned: bool) -> list[Model]:
    rng = np.random.default_rng(seed)
    n_levels = [*rng.permutation(TINY_LEVELS), 3]
    return [random_model(seed + i, n_levels, rank=4, owned=owned) for i in range(n_models)]


models = st.builds(tiny_models, st.integers(0, 10**6), st.integers(1, 3), st.booleans())
