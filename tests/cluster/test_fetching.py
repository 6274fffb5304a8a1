"""Shards of a bucket: what a worker fetched serves its next ones, and goes with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from app.cluster.engine import DaskEngine
from app.cluster.faults import ColumnsOutOfReach
from app.cluster.source import StoredColumns
from app.store.base import Store
from app.store.places import open_store_at
from core.blocks.engine import MEMORY, Engine
from core.callbacks import ignore
from core.cpd.em import fit_models
from core.cpd.spread import gather
from core.data.preparation import Prepared
from core.fit_config import CpdConfig
from tests.cluster.clusters import Cluster, Program, kill
from tests.cluster.test_engine import OnIteration
from tests.cluster.test_source import KEY, stored
from tests.servers import S3, until

pytestmark = pytest.mark.usefixtures("small_tables_are_large")


@pytest.fixture(scope="module")
def near_a_bucket(s3: S3, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Whose workers reach the bucket and write to a directory of their own; one stays."""
    directory = tmp_path_factory.mktemp("near")
    made = Cluster(directory, **s3.env, PITH_DATA_DIR=str(directory / "data"))
    try:
        with made.worker():
            yield made
    finally:
        made.close()


@pytest.fixture
def address(s3: S3, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in s3.env.items():
        monkeypatch.setenv(name, value)
    return s3.url()


@pytest.fixture
def store(address: str, tmp_path: Path) -> Store:
    return open_store_at(address, tmp_path)


@pytest.fixture
def prepared(address: str, store: Store) -> Prepared:
    """Of a thousand rows, some without a label, in row groups that several shards share."""
    return stored(StoredColumns(address, KEY), store)


def fit(
    prepared: Prepared, engine: Engine = MEMORY, on_iteration: OnIteration = ignore
) -> tuple[bytes, ...]:
    source = None if engine is MEMORY else prepared.table.source
    table = replace(prepared.table, engine=engine, source=source)
    problem = table.problem(table.learn("uniform"))
    config = CpdConfig(rank=3, family="per_class", max_iter=3, n_init=1, n_threads=1)
    with gather(problem, "per_class") as rows:
        fits = fit_models(
            rows, problem.table_levels, config, 1, lambda iteration, _: on_iteration(iteration)
        )
    return tuple(array.tobytes() for f in fits for array in (f.weights, *f.factors, f.loglik))


def fetched(cluster: Cluster, program: Program) -> list[str]:
    """Files of a worker in its directory that have no name."""
    data, found = str(cluster.directory / "data"), []
    for held in Path(f"/proc/{program.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # it was closed meanwhile
            found.append(str(held.readlink()))
    return [link for link in found if link.startswith(data) and link.endswith(" (deleted)")]


def has_files(cluster: Cluster) -> bool:
    return any(path.is_file() for path in (cluster.directory / "data").rglob("*"))


def test_each_worker_keeps_one_file_until_nobody_needs_it(
    near_a_bucket: Cluster, prepared: Prepared
) -> None:
    in_memory, workers = fit(prepared), near_a_bucket.programs[1:2]
    seen: list[int] = []

    def look(_: int) -> None:
        seen.append(max(len(fetched(near_a_bucket, worker)) for worker in workers))

    with ExitStack() as started:
        for n_threads in (2, 1):
            assert fit(prepared, DaskEngine(near_a_bucket.address), look) == in_memory
            until(lambda: not any(fetched(near_a_bucket, worker) for worker in workers))
            workers.append(started.enter_context(near_a_bucket.worker(n_threads)))
        assert fit(prepared, DaskEngine(near_a_bucket.address), look) == in_memory
    assert set(seen) == {1}
    assert not has_files(near_a_bucket)


def test_who_is_killed_leaves_nothing_and_others_fetch_his_rows(
    near_a_bucket: Cluster, prepared: Prepared
) -> None:
    with near_a_bucket.worker() as other:

        def kill_other(iteration: int) -> None:
            if iteration == 2:
                kill(other)

        assert fit(prepared, DaskEngine(near_a_bucket.address), kill_other) == fit(prepared)
        assert not has_files(near_a_bucket)


def test_an_object_that_is_gone_is_missed_though_some_of_it_was_fetched(
    near_a_bucket: Cluster, prepared: Prepared, store: Store
) -> None:
    with near_a_bucket.worker() as other:

        def lose(iteration: int) -> None:
            if iteration == 2:
                store.delete("acme")
                kill(other)

        with pytest.raises(ColumnsOutOfReach, match="same store"):
            fit(prepared, DaskEngine(near_a_bucket.address), lose)
