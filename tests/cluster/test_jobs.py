"""Jobs, and `pith select`, whose tables lie on a cluster: the same answer, and who is told what."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from app.capacity import Capacity
from app.cli import select
from app.cluster import connection
from app.cluster.engine import DaskEngine
from app.cluster.faults import ClusterAway
from app.cluster.source import StoredTable
from app.errors import Invalid
from app.jobs.memory import engine_for
from app.jobs.specification import Specification
from app.settings import Settings
from core.config import GsmCpd, SelectionConfig
from core.cpd import shards
from core.errors import InvalidConfig
from core.results.selection import Progress
from core.rivals import columns, whole
from tests.cluster.clusters import Cluster, kill
from tests.servers import until
from tests.worker.test_resume import METHOD, Stage, once, third_choice
from worker import inputs, runner, units
from worker.process import Process

GIB = 1 << 30
QUICK = {"name": "gsm_cpd", "ranks": [4], "n_models": 1, "n_init": 1, "max_iter": 3}


@pytest.fixture
def stage(sqlite_url: str, tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(sqlite_url, tmp_path)
    yield stage
    stage.close()


@pytest.fixture
def features_are_read_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own worker reads the target, and no other column."""
    monkeypatch.setattr(inputs._Others, "read", lambda *_: pytest.fail("it read a feature"))


def with_cluster(stage: Stage, cluster: Cluster) -> Process:
    settings = stage.settings.model_copy(update={"dask_scheduler": cluster.address})
    stage.workers.append(replace(stage.worker(), settings=settings))
    return stage.workers[-1]


@pytest.mark.usefixtures("small_tables_are_large", "features_are_read_there")
def test_a_job_on_a_cluster_has_the_result_of_any_other(
    stage: Stage, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_memory, on_cluster = stage.submit(), stage.submit(engine="dask")
    runner.run_job(stage.worker(), in_memory)
    why_away = iter(["nobody answers", None])
    monkeypatch.setattr(DaskEngine, "why_away", lambda _: next(why_away))
    monkeypatch.setattr(inputs, "PAUSE_SECONDS", 0)
    assert not cluster.keys
    runner.run_job(with_cluster(stage, cluster), on_cluster)
    assert_same_result(stage, in_memory, on_cluster)


@pytest.mark.usefixtures("small_tables_are_large")
@pytest.mark.parametrize("phase", ["encode", "select"])
def test_who_is_killed_with_codes_that_nobody_else_has_costs_no_attempt(
    stage: Stage, cluster: Cluster, phase: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_memory, on_cluster = stage.submit(), stage.submit(engine="dask")
    runner.run_job(stage.worker(), in_memory)
    with cluster.worker() as other:
        reached = once(lambda told: told.phase == phase, lambda: kill(other))
        monkeypatch.setattr(runner, "select_features", reached)
        runner.run_job(with_cluster(stage, cluster), on_cluster)
        assert other.poll() is not None
    assert stage.protocol.read(on_cluster).attempt == 1
    assert_same_result(stage, in_memory, on_cluster)


def assert_same_result(stage: Stage, in_memory: str, on_cluster: str) -> None:
    """Where the table lay is all that differs."""
    (expected, arrays), (document, found) = map(stage.result, (in_memory, on_cluster))
    assert found == arrays
    assert expected.pop("provenance")["engine"] == "memory"
    assert document.pop("provenance")["engine"] == "dask"
    assert document == expected


def run_units(process: Process, job_id: str) -> None:
    while units.run_unit(process, job_id):
        pass


@pytest.mark.usefixtures("small_tables_are_large", "features_are_read_there")
@pytest.mark.parametrize(
    ("run", "asked"),
    [
        (runner.run_job, {"method": {"name": "jmim"}}),
        (runner.run_job, {"method": {"name": "iselect"}}),
        (runner.run_job, {"method": {"name": "rjmi", "max_patterns": 100}}),
        (runner.run_job, {"method": {"name": "globalfs", "max_subsets": 40}}),
        (run_units, {"method": QUICK, "stability": {"n_samples": 2}}),
    ],
    ids=["jmim", "iselect", "rjmi", "globalfs", "stability"],
)
def test_so_has_one_of_another_method_and_a_measure_of_stability(
    stage: Stage, cluster: Cluster, run: Callable[[Process, str], object], asked: dict[str, Any]
) -> None:
    in_memory, on_cluster = (stage.submit(**asked, engine=e) for e in ("memory", "dask"))
    run(stage.worker(), in_memory)
    n_before = cluster.n_transitions
    run(with_cluster(stage, cluster), on_cluster)
    assert cluster.n_transitions > n_before
    assert_same_result(stage, in_memory, on_cluster)


@pytest.mark.usefixtures("small_tables_are_large")
def test_a_comparison_on_a_cluster_has_the_result_of_any_other(
    stage: Stage, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    spread, packers = DaskEngine.spread, []

    def watched(engine: DaskEngine, build: Any, *rest: Any) -> Any:
        packers.append(type(build))
        return spread(engine, build, *rest)

    monkeypatch.setattr(DaskEngine, "spread", watched)
    others = ({"name": name} for name in ("mrmr", "cmim", "iselect"))
    compare = {"methods": [QUICK, *others], "n_splits": 2}
    in_memory, on_cluster = (
        stage.submit(compare=compare, engine=e, method=QUICK, k=2) for e in ("memory", "dask")
    )
    run_units(stage.worker(), in_memory)
    run_units(with_cluster(stage, cluster), on_cluster)
    assert packers.count(shards.Packer) >= 1 + 2  # the selection, and its trials
    assert packers.count(columns.Packer) >= 2 * 2
    assert packers.count(whole.Maker) >= 2
    (expected, arrays), (document, found) = map(stage.result, (in_memory, on_cluster))
    assert found == arrays
    engines = [answer.pop("provenance")["engine"] for answer in (expected, document)]
    assert engines == ["memory", "dask"]
    for answer in (expected, document):
        for trial in answer["comparison"]["methods"]:
            assert trial.pop("seconds") is not None
    assert len(expected["comparison"]["methods"]) == 4
    assert document == expected


@pytest.mark.usefixtures("small_tables_are_large")
@pytest.mark.parametrize("engine", ["memory", "file"])
@pytest.mark.parametrize("method", [METHOD, {"name": "mrmr"}], ids=["gsm", "mrmr"])
def test_who_has_the_rows_at_hand_does_not_read_them_again(
    stage: Stage, engine: str, method: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[int] = []
    monkeypatch.setattr(StoredTable, "fine", lambda *rows: reads.append(1))
    job_id = stage.submit(engine=engine, method=method)
    runner.run_job(stage.worker(), job_id)
    assert stage.protocol.read(job_id).status == "succeeded"
    assert not reads


def first_iteration(progress: Progress) -> bool:
    """When the cluster has packed the rows."""
    return progress.phase == "fit" and progress.loglik is not None


@pytest.mark.usefixtures("small_tables_are_large")
def test_a_cancel_reaches_a_job_on_a_cluster(
    stage: Stage, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id, held = stage.submit(engine="dask"), list[bool]()

    def cancel() -> None:
        held.append(bool(cluster.keys))
        stage.protocol.cancel(job_id)

    monkeypatch.setattr(runner, "select_features", once(first_iteration, cancel))
    runner.run_job(with_cluster(stage, cluster), job_id)
    assert held[0]
    assert stage.protocol.read(job_id).status == "cancelled"
    until(lambda: not cluster.keys)


@pytest.mark.usefixtures("small_tables_are_large")
def test_a_cluster_that_goes_away_costs_no_attempt_and_no_work(
    stage: Stage, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def go() -> None:
        raise ClusterAway

    job_id = stage.submit(engine="dask")
    worker = with_cluster(stage, cluster)
    with monkeypatch.context() as patch:
        patch.setattr(runner, "select_features", once(third_choice, go))
        runner.run_job(worker, job_id)
    job = stage.protocol.read(job_id)
    assert (job.status, job.attempt) == ("queued", 0)
    assert stage.n_checkpoints() > 0
    runner.run_job(worker, job_id)
    assert stage.protocol.read(job_id).status == "succeeded"


@pytest.mark.usefixtures("small_tables_are_large")
def test_a_fit_goes_on_where_it_was_when_the_cluster_went_away(
    stage: Stage, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Progress] = []

    def is_fourth(progress: Progress) -> bool:
        heard.extend([progress] * first_iteration(progress))
        return len(heard) == 4

    def go() -> None:
        heard.clear()
        raise ClusterAway

    in_memory, on_cluster = stage.submit(), stage.submit(engine="dask")
    runner.run_job(stage.worker(), in_memory)
    worker = with_cluster(stage, cluster)
    monkeypatch.setattr(runner, "select_features", once(is_fourth, go))
    runner.run_job(worker, on_cluster)
    monkeypatch.setattr(runner, "select_features", once(is_fourth, lambda: None))
    runner.run_job(worker, on_cluster)
    n_iter = stage.result(in_memory)[0]["models"][0]["n_iter"]
    assert len(heard) == n_iter - 2  # it goes on from the third, which is told again
    assert_same_result(stage, in_memory, on_cluster)


@pytest.mark.usefixtures("small_tables_are_large")
def test_a_scheduler_that_dies_in_a_job_and_comes_again_costs_no_attempt(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_memory, on_cluster = stage.submit(), stage.submit(engine="dask")
    runner.run_job(stage.worker(), in_memory)
    (tmp_path / "own").mkdir()
    own = Cluster(tmp_path / "own")
    try:
        worker = with_cluster(stage, own)
        with own.worker(), monkeypatch.context() as patch:
            patch.setattr(runner, "select_features", once(first_iteration, own.kill_scheduler))
            runner.run_job(worker, on_cluster)
            job = stage.protocol.read(on_cluster)
            assert (job.status, job.attempt) == ("queued", 0)
        own.start_scheduler()
        with own.worker():
            runner.run_job(worker, on_cluster)
    finally:
        own.close()
    assert_same_result(stage, in_memory, on_cluster)


def test_the_engine_is_what_was_asked_for_or_the_first_with_room(stage: Stage) -> None:
    def chosen(n_rows: int, capacity: Capacity, **fields: Any) -> str:
        asked = Specification(dataset_id=stage.dataset_id, target="y", **fields)
        columns = [{"name": f"x{n}", "kind": "number", "levels": 100} for n in range(1000)]
        return engine_for(asked, n_rows, [*columns, {**columns[0], "name": "y"}], capacity)

    few, many = 1000, 3_000_000
    cluster = Capacity(GIB, has_cluster=True)
    assert chosen(few, Capacity(GIB)) == "memory"
    assert chosen(few, cluster) == "memory"
    assert chosen(few, cluster, engine="dask") == "memory"
    assert chosen(2**25 // 1000, cluster, engine="dask", method={"name": "mrmr"}) == "memory"
    assert chosen(2**25 // 1000 + 1, cluster, engine="dask", method={"name": "mrmr"}) == "dask"
    for engine in ("auto", "dask"):  # what would not be asked there stays here
        rjmi = {"engine": engine, "method": {"name": "rjmi"}}
        assert chosen(few, Capacity(4 * GIB, has_cluster=True), **rjmi) == "memory"
        assert chosen(many, Capacity(4 * GIB, has_cluster=True), **rjmi) == "dask"
        assert chosen(40_000, Capacity(4 * GIB, has_cluster=True), engine=engine) == "memory"
    assert chosen(40_001, Capacity(4 * GIB, has_cluster=True), engine="dask") == "dask"
    assert chosen(few, Capacity(GIB), engine="file") == "file"
    assert chosen(many, Capacity(4 * GIB)) == "file"
    assert chosen(many, Capacity(4 * GIB, has_cluster=True)) == "dask"
    with pytest.raises(Invalid, match="GiB of memory"):
        chosen(many, Capacity(4 * GIB, has_cluster=True), engine="memory")
    with pytest.raises(Invalid, match="PITH_DASK_SCHEDULER") as refused:
        chosen(few, Capacity(GIB), engine="dask")
    assert refused.value.errors[0].pointer == "/engine"


def test_a_table_that_stays_in_the_worker_waits_for_no_scheduler(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DaskEngine, "why_away", lambda _: pytest.fail("it was looked for"))
    settings = stage.settings.model_copy(update={"dask_scheduler": "tcp://127.0.0.1:1"})
    stage.workers.append(replace(stage.worker(), settings=settings))
    job_id = stage.submit(engine="dask", method={"name": "mrmr"})
    runner.run_job(stage.workers[-1], job_id)
    document, _ = stage.result(job_id)
    assert document["provenance"]["engine"] == "memory"
    assert document["provenance"]["specification"]["engine"] == "dask"


@pytest.mark.usefixtures("small_tables_are_large")
def test_select_lends_its_columns_to_a_cluster(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(select, "get_settings", lambda: Settings(data_dir=tmp_path / "data"))
    file = tmp_path / "table.csv"
    rows = {"a": [n % 3 for n in range(200)], "b": [n * 7 % 31 / 2 for n in range(200)]}
    pl.DataFrame({**rows, "y": [n % 2 for n in range(200)]}).write_csv(file)
    config = SelectionConfig(1, method=GsmCpd(ranks=(2,), n_init=1, max_iter=5), n_threads=1)
    table = select.read(str(file))
    with table.typed:
        alone = select.run(table, "y", config)
        shared = select.run(table, "y", config, scheduler=cluster.address)
        assert shared.to_json() == alone.to_json()
        assert not any(path.is_file() for path in (tmp_path / "data").rglob("*"))
        monkeypatch.setattr(connection, "CONNECT_SECONDS", 0.5)
        with pytest.raises(InvalidConfig, match="no scheduler answers"):
            select.run(table, "y", config, scheduler="tcp://127.0.0.1:1")
