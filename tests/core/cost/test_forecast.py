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
from core.cost.forecast import phase_seconds
from core.cost.work import KINDS, USUAL, Speed, Work
from core.memory import TableShape

SHAPE = TableShape(3000, [5] * 40, 3, n_continuous=20)
METHODS_ASKED: list[Method] = [*(kind() for kind in METHODS), SelectionConfig.paper().method]


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


def test_a_table_without_features_or_rows_to_spare_has_a_price_too() -> None:
    smallest = TableShape(1, [1], 1)
    for method in METHODS_ASKED:
        assert seconds(smallest, SelectionConfig(1, method=method)) > 0
