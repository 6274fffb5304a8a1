"""A fit that goes on from where another stood gives the same bytes, wherever that was."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from core import budgets
from core.blocks.engine import MEMORY, Engine
from core.blocks.scratch import Scratch
from core.cpd import thinning
from core.cpd.em import fit_models
from core.cpd.halfway import Halfway
from core.cpd.model import CpdFit
from core.cpd.spread import SpreadRows, gather
from core.data.problem import CodedProblem
from core.fit_config import CpdConfig, Family
from tests.core.worlds import random_model, sample

LEVELS = np.array([3, 4, 2, 5, 3])
PLACES: dict[str, dict[str, object]] = {
    "whole, few rows": {},
    "whole": {"CROSS_ROWS": 60},
    "shards": {"CROSS_ROWS": 60, "WHOLE_CELLS": 0, "SHARD_ROWS": (40, 40)},
}


def stored(halfway: Halfway) -> Halfway:
    """Through bytes and back, as a worker keeps it."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **halfway.to_arrays())
    return Halfway.from_arrays(dict(np.load(io.BytesIO(buffer.getvalue()), allow_pickle=False)))


def as_bytes(fits: list[CpdFit]) -> list[bytes]:
    arrays = [a for f in fits for a in (f.weights, *f.factors, f.loglik, f.objective)]
    return [*(a.tobytes() for a in arrays), bytes([f.converged for f in fits])]


@pytest.fixture(autouse=True)
def few_rows_stand_for_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thinning, "LEAST_OF_CLASS", 5)


def problem(engine: Engine) -> CodedProblem:
    codes = sample(random_model(4, LEVELS.tolist(), rank=3), 150, 1)
    return CodedProblem.of_codes(
        codes[:, :-1], n_levels=LEVELS[:-1], labels=codes[:, -1], n_classes=3, engine=engine
    )


def go_on_from_everywhere(made: CodedProblem, config: CpdConfig) -> list[Halfway]:
    """All the places that a fit was at, from each of which another came to the same end."""
    stands: list[Halfway] = []
    with gather(made, config.family) as rows:
        assert isinstance(rows, SpreadRows) == (budgets.WHOLE_CELLS == 0)
        whole = fit_models(rows, made.table_levels, config, 2, on_halfway=stands.append)
        for halfway in stands:
            told: list[tuple[int, float]] = []
            again = fit_models(
                rows, made.table_levels, config, 2, lambda *at, told=told: told.append(at),
                on_few=not_again, halfway=stored(halfway),
            )  # fmt: skip
            assert as_bytes(again) == as_bytes(whole)
            assert [n for n, _ in told] == list(range(halfway.n_iter, whole[0].n_iter + 1))
    numbers = [halfway.n_iter for halfway in stands]
    assert max(np.diff([*numbers, whole[0].n_iter])) <= 2  # a leap is an iteration of its own
    return stands


def not_again(*_: object) -> None:
    raise AssertionError("rows that stand for others are not fitted again")


@pytest.mark.parametrize("place", [*PLACES, "file"])
@pytest.mark.parametrize("family", ["per_class", "joint"])
def test_a_fit_goes_on_from_wherever_another_stood(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str, family: Family
) -> None:
    for name, value in PLACES.get(place, PLACES["shards"]).items():
        monkeypatch.setattr(budgets, name, value)
    made = problem(Scratch(tmp_path) if place == "file" else MEMORY)
    config = CpdConfig(rank=5, family=family, max_iter=40, tol=1e-6, n_threads=1)
    assert len(go_on_from_everywhere(made, config)) > 5


def test_what_was_asked_last_is_kept_where_it_was_not_accepted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next step follows from it, so that nothing else would give the same bytes."""
    for name, value in PLACES["shards"].items():
        monkeypatch.setattr(budgets, name, value)
    config = CpdConfig(rank=5, max_iter=200, tol=0, n_threads=1)
    stands = go_on_from_everywhere(problem(MEMORY), config)
    refused = [halfway for halfway in stands if halfway.asked is not halfway.parameters]
    assert 0 < len(refused) < len(stands)
    assert refused[0].n_bytes > 1.5 * stands[0].n_bytes
