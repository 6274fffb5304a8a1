from __future__ import annotations

from collections.abc import Iterator

import pytest

from core import budgets
from core.cpd import thinning
from tests.cluster.clusters import Cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """With one worker, which no test may end."""
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        with made.worker():
            yield made
    finally:
        made.close()


@pytest.fixture
def small_tables_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "WHOLE_CELLS", 0)
    monkeypatch.setattr(budgets, "SHARD_ROWS", (20, 20))
    monkeypatch.setattr(budgets, "CROSS_ROWS", 60)
    monkeypatch.setattr(thinning, "LEAST_OF_CLASS", 5)
