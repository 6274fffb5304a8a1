"""Data from a random latent class model: what every speed benchmark runs on."""

from __future__ import annotations

import numpy as np

from core.data.problem import CodedProblem

N_CLASSES, N_STATES = 10, 20
_ROWS_AT_ONCE = 2000


def latent_class_problem(
    n_rows: int,
    n_features: int,
    n_levels: int = 5,
    seed: int = 0,
    *,
    weak: bool = False,
    n_threads: int = 0,
) -> CodedProblem:
    """Codes from a random latent class model; the label follows the state.

    A handful of features tells the state apart. With `weak` features it takes dozens, as in real
    tables: each differs only a little between the states, some more and most less.
    """
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_levels, 0.7), (N_STATES, n_features))
    if weak:
        strength = rng.beta(2, 6, (1, n_features, 1))
        shares = strength * shares + (1 - strength) * shares.mean(axis=0)
    cuts = shares.cumsum(axis=2).astype(np.float32)[..., :-1]
    states = rng.integers(0, N_STATES, n_rows)
    codes = np.zeros((n_rows, n_features), dtype=np.uint8)
    for start in range(0, n_rows, _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        drawn = rng.random((len(codes[part]), n_features), dtype=np.float32)
        for level in range(n_levels - 1):
            codes[part] += drawn > cuts[states[part], :, level]
    return CodedProblem.of_codes(
        codes=codes,
        n_levels=np.full(n_features, n_levels, dtype=np.int64),
        labels=(states % N_CLASSES).astype(np.uint8),
        n_classes=N_CLASSES,
        candidates=tuple(range(n_features)),
        n_threads=n_threads,
    )
