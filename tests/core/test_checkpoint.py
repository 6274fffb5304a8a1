"""A run that is interrupted anywhere and goes on gives the same bytes."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.checkpoint import Checkpoint
from core.config import Evaluate, GsmCpd, Method, Mrmr, SelectionConfig
from core.pipeline import select_features
from core.results.selection import Progress, SelectionResult

METHOD = {"n_models": 2, "n_init": 1, "max_iter": 15, "n_configurations": 64}


class Interrupted(Exception):
    pass


def columns(n_rows: int = 300) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    label = rng.integers(0, 3, n_rows)
    features = (label[:, None] * (np.arange(8) % 2) + rng.integers(0, 4, (n_rows, 8))) % 4
    return {**{f"x{i}": features[:, i] for i in range(8)}, "y": label}


def config(**options: Any) -> SelectionConfig:
    return SelectionConfig(6, method=GsmCpd(**{**METHOD, "ranks": (2, 4), **options}))


def interrupted_when(reached: Callable[[Progress], bool]) -> Callable[[Progress], None]:
    def on_progress(progress: Progress) -> None:
        if reached(progress):
            raise Interrupted

    return on_progress


def stored(checkpoint: Checkpoint) -> Checkpoint:
    """Through bytes and back, as a worker keeps it."""
    parts = {}
    for name, arrays in checkpoint.to_parts().items():
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **arrays)
        parts[name] = dict(np.load(io.BytesIO(buffer.getvalue()), allow_pickle=False))
    return Checkpoint.from_parts(parts)


def same(a: SelectionResult, b: SelectionResult) -> bool:
    arrays, others = a.to_arrays(), b.to_arrays()
    equal = all(arrays[name].tobytes() == others[name].tobytes() for name in arrays)
    return json.dumps(a.to_json()) == json.dumps(b.to_json()) and equal


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"greedy": "naive"},
        {"objective": "latent"},
        {"family": "joint"},
        {"remodel": "step"},
        {"remodel": "candidate"},
    ],
    ids=str,
)
def test_the_result_is_the_same_wherever_it_was_interrupted(options: dict[str, Any]) -> None:
    table, how = columns(), config(**options)
    whole = select_features(table, "y", how)
    phases: list[tuple[str, Callable[[Progress], bool]]] = [
        ("rank", lambda p: p.phase == "fit"),
        ("fit", lambda p: p.phase == "select"),
        ("select", lambda p: p.selected is not None and p.selected.rank == 3),
        ("select", lambda p: p.selected is not None and p.selected.rank == 6),
    ]
    checkpoint = Checkpoint()
    for done, reached in phases:
        with pytest.raises(Interrupted):
            select_features(table, "y", how, interrupted_when(reached), checkpoint)
        assert done in checkpoint.to_parts()
        checkpoint = stored(checkpoint)
        assert same(select_features(table, "y", how, None, stored(checkpoint)), whole)


def test_remodelling_that_has_come_to_its_end_does_not_go_on() -> None:
    how = config(remodel="step")
    table, checkpoint = columns(), Checkpoint()
    whole = select_features(table, "y", how, None, checkpoint)
    n_steps = len(checkpoint.selection.steps)
    again = stored(checkpoint)
    assert same(select_features(table, "y", how, None, again), whole)
    assert len(again.selection.steps) == n_steps == len(whole.selected) > 0


@pytest.mark.parametrize("method", [config(ranks=(4,)).method, Mrmr()], ids=["gsm", "rival"])
@pytest.mark.parametrize("n_done", [1, 3])
def test_evaluation_goes_on_after_the_last_split(method: Method, n_done: int) -> None:
    table, checkpoint = columns(), Checkpoint()
    how = SelectionConfig(3, method=method, evaluate=Evaluate(n_splits=4))
    whole = select_features(table, "y", how)
    reached = interrupted_when(lambda _: len(checkpoint.trials) == n_done)
    with pytest.raises(Interrupted):
        select_features(table, "y", how, reached, checkpoint)
    told: list[Progress] = []
    assert same(select_features(table, "y", how, told.append, stored(checkpoint)), whole)
    since = [p.fraction for p in told if p.phase == "evaluate"]
    assert min(since) >= (1 + n_done) / 5  # the splits that were done are not done again


def test_what_is_done_is_not_done_again() -> None:
    table, checkpoint = columns(), Checkpoint()
    select_features(table, "y", config(), None, checkpoint)
    told: list[Progress] = []
    select_features(table, "y", config(), told.append, stored(checkpoint))
    assert not any(p.phase == "rank" or p.loglik is not None for p in told)
    assert [p.selected.rank for p in told if p.selected] == [1, 2, 3, 4, 5, 6]
