"""Small problems to select from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from core.data.problem import CodedProblem


def random_problem(
    seed: int,
    n_rows: int = 90,
    n_features: int = 9,
    *,
    missing: bool = False,
    weights: bool = False,
) -> CodedProblem:
    """Features of 2 to 4 levels that follow a hidden state, as the label does."""
    rng = np.random.default_rng(seed)
    state = rng.integers(0, 4, n_rows)
    n_levels = rng.integers(2, 5, n_features)
    noise = rng.integers(0, n_levels, (n_rows, n_features))
    follows = rng.random((n_rows, n_features)) < rng.uniform(0.1, 0.8, n_features)
    codes = np.where(follows, state[:, None] % n_levels, noise).astype(np.uint8)
    labels = np.where(rng.random(n_rows) < 0.7, state % 3, rng.integers(0, 3, n_rows))
    if missing:
        codes[rng.random(codes.shape) < 0.15] = 255
    return CodedProblem.of_codes(
        codes=codes,
        n_levels=n_levels.astype(np.int64),
        labels=labels.astype(np.uint8),
        n_classes=3,
        row_weights=rng.integers(1, 4, n_rows).astype(np.float64) if weights else None,
        candidates=tuple(range(n_features)),
        n_threads=1,
    )


def unlabelled(codes: np.ndarray, row_weights: np.ndarray | None = None) -> CodedProblem:
    """Codes (n_rows, n_features) of which nothing is to be told."""
    return CodedProblem.of_codes(
        codes,
        n_levels=np.full(codes.shape[1], 255),
        labels=np.zeros(len(codes), dtype=np.uint8),
        n_classes=1,
        row_weights=row_weights,
    )


def recoded(problem: CodedProblem, codes: np.ndarray, **changes: Any) -> CodedProblem:
    """The same problem with other codes (n_rows, n_features), and what else changes."""
    made = unlabelled(codes)
    return replace(problem, columns=made.columns, tables=made.tables, **changes)


def with_codes(problem: CodedProblem, codes: np.ndarray) -> CodedProblem:
    """The same problem with other codes, whose levels are counted anew."""
    levels = [len(np.unique(column[column != 255])) for column in codes.T]
    every = tuple(range(codes.shape[1]))
    return recoded(problem, codes, n_levels=np.array(levels), candidates=every)
