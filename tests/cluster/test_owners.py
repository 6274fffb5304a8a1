"""Shards of real workers of Dask, however many these are: the bytes of memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from distributed import LocalCluster
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.cluster.engine import DaskEngine
from core import budgets
from core.blocks.engine import MEMORY
from core.fit_config import Family
from tests.core.cpd.test_spread import FAMILIES, fit
from tests.core.worlds import examples

N_WORKERS = 1, 2, 3, 7


@pytest.fixture(scope="module")
def engines() -> Iterator[list[DaskEngine]]:
    """Of clusters in this process, with so many workers each."""
    with ExitStack() as started:
        yield [
            DaskEngine(started.enter_context(cluster_of(n)).scheduler_address) for n in N_WORKERS
        ]


def cluster_of(n_workers: int) -> LocalCluster:
    # Any free port: of the usual one Dask would warn that somebody has it.
    options: dict[str, Any] = {"processes": False, "dashboard_address": "127.0.0.1:0"}
    return LocalCluster(n_workers=n_workers, threads_per_worker=1, **options)


@pytest.mark.usefixtures("small_tables_are_large")
@settings(examples(3), suppress_health_check=list(HealthCheck))
@given(st.sampled_from(FAMILIES), st.integers(7, 200))
@example("per_class", 7)
@example("joint", 64)
def test_however_many_workers_hold_the_shards_the_fit_is_the_same_bytes(
    engines: list[DaskEngine], monkeypatch: pytest.MonkeyPatch, family: Family, n_rows: int
) -> None:
    monkeypatch.setattr(budgets, "SHARD_ROWS", (n_rows, n_rows))
    told = fit(MEMORY, 1, family)
    for engine in engines:
        assert fit(engine, 1, family) == told
