"""Named columns to select from."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.config import GsmCpd, SelectionConfig
from tests.core.worlds import random_model, sample

Table = dict[str, Any]

QUICK = GsmCpd(ranks=(8,), n_models=2, n_init=2, max_iter=60)


def quick(k: Any = 3, **options: Any) -> SelectionConfig:
    return SelectionConfig(k, **{"method": QUICK, "n_threads": 1, **options})


def mixed_table(n_rows: int = 400, seed: int = 0) -> Table:
    """Columns of every kind that follow a hidden state, noise, and the label `y`."""
    rng = np.random.default_rng(seed)
    codes = sample(random_model(seed, [4, 3, 2, 4, 3, 3], rank=4, sharpness=0.3), n_rows, seed)
    with_holes = codes[:, 3].astype(np.float64)
    with_holes[rng.random(n_rows) < 0.1] = np.nan
    return {
        "level": np.array(["low", "mid", "high", "top"])[codes[:, 0]],
        "size": codes[:, 1] + rng.uniform(0, 0.9, n_rows),
        "flag": codes[:, 2] == 1,
        "count": with_holes,
        "shade": codes[:, 4].astype(np.int64),
        "noise": rng.normal(size=n_rows),
        "coin": rng.integers(0, 2, n_rows),
        "y": np.array(["a", "b", "c"])[codes[:, 5]],
    }


def xor_table(n_rows: int = 2000, n_noise: int = 8, seed: int = 0) -> Table:
    """The label is the exclusive or of `left` and `right`, which tell nothing alone."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (n_rows, n_noise + 2))
    table: Table = {f"noise{i}": bits[:, i + 2] for i in range(n_noise)}
    table["left"], table["right"] = bits[:, 0], bits[:, 1]
    table["y"] = bits[:, 0] ^ bits[:, 1]
    return table
