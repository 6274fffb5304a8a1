"""A run that is interrupted anywhere and goes on gives the same bytes."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.blocks.scratch import Scratch
from core.callbacks import ignore
from core.checkpoint import Checkpoint
from core.config import Evaluate, GsmCpd, Method, Mrmr, SelectionConfig
from core.crossfit.choice import Configuration
from core.data.preparation import prepare
from core.gsm import completed
from core.gsm.completed import Completed
from core.methods import choose
from core.pipeline import select_features
from core.results.selection import Progress, SelectionResult
from tests.cluster.budgets import SMALL

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


@pytest.fixture
def small_tables_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in SMALL:
        monkeypatch.setattr(module, name, value)


def hearing_fit(heard: list[Progress], until: int = 0) -> Callable[[Progress], None]:
    """Hears every report of the fit, and interrupts with one of them."""

    def on_progress(progress: Progress) -> None:
        if progress.phase == "fit":
            heard.append(progress)
            if len(heard) == until:
                raise Interrupted

    return on_progress


def n_iterations(heard: Iterable[Progress]) -> int:
    return sum(progress.loglik is not None for progress in heard)


@pytest.mark.usefixtures("small_tables_are_large")
@pytest.mark.parametrize("remodel", ["none", "step"])
def test_a_fit_in_shards_goes_on_wherever_it_was_interrupted(tmp_path: Path, remodel: str) -> None:
    table, how, planned = columns(120), config(ranks=(4,), remodel=remodel), Checkpoint()
    heard: list[Progress] = []
    whole = select_features(table, "y", how, hearing_fit(heard), planned)
    assert n_iterations(heard) == whole.models[0].n_iter > 10
    for until in range(1, len(heard) + 1):
        checkpoint = Checkpoint(Completed(planned.selection.plan))
        before, after = list[Progress](), list[Progress]()
        with pytest.raises(Interrupted):
            select_features(table, "y", how, hearing_fit(before, until), checkpoint)
        again = select_features(
            table, "y", how, hearing_fit(after), stored(checkpoint), engine=Scratch(tmp_path)
        )
        assert same(again, whole)
        # Those since the last leap; and the one that it goes on from is told again.
        assert n_iterations([*before, *after]) - n_iterations(heard) <= 2 + 1


@pytest.mark.usefixtures("small_tables_are_large")
def test_of_two_ways_to_cut_the_one_that_is_fitted_is_not_fitted_again() -> None:
    table, how = columns(120), config(n_models=4)
    table["n"] = np.random.default_rng(3).normal(size=120) + table["y"]
    prepared = prepare(table, "y", how, ignore)
    both = Configuration("quantile", 4, hears_plainer=True)

    def fits(on_progress: Callable[[Progress], None], completed: Completed) -> list[bytes]:
        choose(prepared.table, 3, how.method, on_progress, (), completed, configuration=both)
        arrays = completed.to_parts()["fit"]
        return [arrays[name].tobytes() for name in sorted(arrays)]

    heard: list[Progress] = []
    whole = fits(hearing_fit(heard), Completed())
    n_continued = 0
    for until in range(1, len(heard) + 1):
        checkpoint, after = Checkpoint(), list[Progress]()
        with pytest.raises(Interrupted):
            fits(hearing_fit([], until), checkpoint.selection)
        kept = stored(checkpoint).selection
        assert kept.sizes() == checkpoint.selection.sizes()
        n_continued += bool(kept.started.plain_fits)
        assert fits(hearing_fit(after), kept) == whole
        if kept.started.plain_fits:
            assert min(progress.within for progress in after[1:]) >= 0.5
    assert 0 < n_continued < len(heard)


def test_a_fit_too_large_to_be_kept_is_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completed, "MOST_KEPT", 100)
    checkpoint = Checkpoint()
    reached = interrupted_when(lambda p: p.loglik is not None and p.within > 0.9)
    with pytest.raises(Interrupted):
        select_features(columns(), "y", config(), reached, checkpoint)
    assert set(checkpoint.to_parts()) == set(checkpoint.sizes()) == {"rank"}


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
