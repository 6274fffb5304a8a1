"""The first guess: every model's from the rows that it learns from."""

from __future__ import annotations

import numpy as np

from core.cpd.bank import Bank
from core.cpd.rows import prepare_rows
from core.cpd.seeding import SEED_SHARE, seed_parameters
from core.workers import Workers


def test_no_model_starts_from_rows_held_out_from_it() -> None:
    codes = np.arange(40, dtype=np.uint8)[:, None] * np.ones((1, 3), dtype=np.uint8)
    codes[:, 2] = np.arange(40) % 2
    folds = np.arange(40) // 2 % 4
    rows = prepare_rows(codes, np.array([40, 40, 2]), "per_class", folds=folds)
    scale = (rows.folds[:, None] != np.arange(4)).astype(np.float32)
    scale[rows.class_start[1] :, 3] = 0
    with Workers(1) as workers:
        bank = Bank(rows, np.array([5, 5]), scale, 0.1, workers)
        probs = bank.layout.to_lanes(seed_parameters(bank, seed=0).probs)[:, 1:41]
    seeded = probs > SEED_SHARE  # (class, level, model, state)
    held_out = folds[:, None] == np.arange(4)
    assert seeded[0].any(axis=0).all()
    assert not seeded[:, held_out].any()
    assert not seeded[1, :, 3].any()
    assert np.allclose(probs.sum(axis=1), 1)
