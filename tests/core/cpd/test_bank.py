"""Models side by side: each gets what it would get alone, whoever its neighbours are."""

from __future__ import annotations

import numpy as np
import pytest

from core.cpd.bank import Bank, uniform_scale
from core.cpd.layout import Layout, Parameters
from core.cpd.rows import prepare_rows
from core.cpd.seeding import seed_parameters
from core.workers import Workers
from tests.core.reference import Bytes
from tests.core.worlds import random_model, sample

LEVELS = [3, 4, 2, 5, 2, 3, 7, 3]


def codes() -> Bytes:
    return sample(random_model(3, LEVELS, rank=4), 2500, 4)


def model_of(bank: Bank, parameters: Parameters, model: int, alone: Layout) -> Parameters:
    weights = bank.layout.to_lanes(parameters.weights)[:, model]
    probs = bank.layout.to_lanes(parameters.probs)[:, :, model]
    return Parameters(alone.to_tiles(weights), alone.to_tiles(probs))


@pytest.mark.parametrize(("n_models", "n_states"), [(3, 7), (5, 1), (2, 16), (4, 11)])
def test_a_model_among_others_is_the_same_to_the_last_byte(n_models: int, n_states: int) -> None:
    rows = prepare_rows(codes(), np.array(LEVELS), "joint")
    with Workers(1) as workers:
        scale = uniform_scale(rows.weights, n_models)
        bank = Bank(rows, np.array([n_states]), scale, 0.5, workers)
        alone = bank.of_fewer(1)
        start = seed_parameters(bank, 7)
        loglik, log_prior = bank.expect(start)
        step = bank.maximise()
        for m in range(n_models):
            found = alone.expect(model_of(bank, start, m, alone.layout))
            assert [part.item() for part in found] == [loglik[0, m], log_prior[0, m]]
            wanted, own = model_of(bank, step, m, alone.layout), alone.maximise()
            own = model_of(alone, own, 0, alone.layout)
            assert own.weights.tobytes() == wanted.weights.tobytes()
            assert own.probs.tobytes() == wanted.probs.tobytes()
