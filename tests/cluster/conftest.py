from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.budgets import SMALL
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
    for module, name, value in SMALL:
        monkeypatch.setattr(module, name, value)
