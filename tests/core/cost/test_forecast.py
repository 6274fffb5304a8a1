"""Predicted seconds: more of anything takes longer, and every phase that runs has a share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.config import (
    METHODS,
    Bootstrap,
    Compare,
    Evaluate,
    GsmCpd,
    Jmi,
    Method,
    Mrmr,
    SelectionConfig,
)
from core.cost.engines import EngineName, encode_there
from core.cost.forecast import phase_seconds
from core.cost.work import KINDS, USUAL, Speed, Work
from core.memory import TableShape

SHAPE = TableShape(3000, [5] * 40, 3, n_continuous=20)
METHODS_ASKED: list[Method] = [*(kind() for kind in METHODS), SelectionConfig.paper().method]


ENGINES: tuple[EngineName, ...] = ("memory", "file", "dask")


def seconds(shape: TableShape, config: SelectionConfig, speed: Speed | None = None) -> float:
    return sum(phase_seconds(shape, config, speed or Speed()).values())


def wider(shape: TableShape, n_features: int) -> TableShape:
    return replace(shape, n_levels=[5] * n_features, n_continuous=n_features // 2)


@pytest.mark.parametrize("method", METHODS_ASKED, ids=lambda method: str(method.name))
@pytest.mark.parametrize("k", ["auto", 10])
def test_more_rows_columns_and_choices_take_longer(method: Method, k: int | str) -> None:
    config = SelectionConfig(k, method=method)  # type: ignore[arg-type]
    by_rows = [seconds(replace(SHAPE, n_rows=n), config) for n in (50, 2_000, 60_000, 3_000_000)]
    by_columns = [seconds(wider(SHAPE, n), config) for n in (4, 40, 400, 4_000)]
    by_k = [seconds(SHAPE, replace(config, k=size)) for size in (1, 5, 20, 40)]
    for found in (by_rows, by_columns, by_k):
        assert found == sorted(found)
        assert 0 < found[0] < found[-1]


def test_every_phase_has_its_seconds() -> None:
    config = SelectionConfig(5, evaluate=Evaluate(n_splits=3))
    compare = Compare(methods=(GsmCpd(), Mrmr(), Jmi()))
    found = phase_seconds(SHAPE, config, Speed(), compare, Bootstrap())
    assert list(found) == ["encode", "rank", "fit", "select", "evaluate", "compare", "resample"]
    assert min(found.values()) > 0
    twice = phase_seconds(SHAPE, replace(config, evaluate=Evaluate(n_splits=6)), Speed())
    assert twice["evaluate"] == pytest.approx(2 * found["evaluate"])
    assert {phase: twice[phase] for phase in ("encode", "rank", "fit", "select")} == {
        phase: found[phase] for phase in ("encode", "rank", "fit", "select")
    }
    assert list(phase_seconds(SHAPE, SelectionConfig(5, method=Mrmr()), Speed())) == [
        "encode",
        "rank",
        "select",
    ]


def test_threads_share_what_is_compiled_and_nothing_else() -> None:
    assert set(USUAL) == set(KINDS)
    one, two = Speed(), Speed(n_threads=2)
    assert two.seconds(Work(updates=1e9)) == pytest.approx(one.seconds(Work(updates=1e9)) / 2)
    assert two.seconds(Work(calls=1e3)) == one.seconds(Work(calls=1e3))
    config = SelectionConfig()
    assert seconds(SHAPE, config, one) / 2 < seconds(SHAPE, config, two) < seconds(SHAPE, config)


CUT = TableShape(1_000_000, [5] * 100, 10)


@pytest.mark.parametrize("method", METHODS_ASKED, ids=lambda method: str(method.name))
def test_where_blocks_lie_costs_something_if_there_are_any(method: Method) -> None:
    config = SelectionConfig(10, method=method)
    found = [phase_seconds(CUT, config, Speed(), engine=engine) for engine in ENGINES]
    rising = [sum(phases.values()) for phases in found]
    assert rising == sorted(rising)
    assert len(set(rising)) == len(ENGINES)
    asked = "fit" if isinstance(method, GsmCpd) else "select"
    for phases, dearer in zip(found, ([], [asked], ["encode", asked]), strict=True):
        # held-out rows are a sample, in memory whichever engine there is
        assert [phase for phase in phases if phases[phase] != found[0][phase]] == dearer
    whole = [phase_seconds(SHAPE, config, Speed(), engine=engine) for engine in ENGINES]
    assert whole[0] == whole[1] == whole[2]


def test_a_cluster_encodes_numbers_at_a_higher_price_and_only_where_blocks_are_many() -> None:
    levels, numbers = (encode_there(replace(CUT, n_continuous=n), "dask") for n in (0, 100))
    assert numbers.counts > 5 * levels.counts > 0
    assert encode_there(CUT, "file") == encode_there(SHAPE, "dask") == Work()


def test_trials_and_samples_lie_where_the_table_lies() -> None:
    config = SelectionConfig(5, evaluate=Evaluate(n_splits=3))
    compare = Compare(methods=(GsmCpd(), Mrmr()))
    in_memory, on_cluster = (
        phase_seconds(CUT, config, Speed(), compare, Bootstrap(), engine=engine)
        for engine in ("memory", "dask")
    )
    for phase in ("evaluate", "compare", "resample"):
        assert on_cluster[phase] > in_memory[phase]


def test_a_table_without_features_or_rows_to_spare_has_a_price_too() -> None:
    smallest = TableShape(1, [1], 1)
    for method in METHODS_ASKED:
        assert seconds(smallest, SelectionConfig(1, method=method)) > 0
