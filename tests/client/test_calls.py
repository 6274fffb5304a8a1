"""Every call against the real service, blocking and awaited."""

from __future__ import annotations

import asyncio
import inspect
import json
import pickle
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pith_client import (
    ApiError,
    AsyncPith,
    BadField,
    Conflict,
    DatasetRejected,
    Invalid,
    Job,
    JobCancelled,
    JobFailed,
    NotFound,
    Pith,
)
from pith_client.calls import Api
from pith_client.specification import specification
from tests.app.running import CSV, Service


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_bytes(CSV)
    return path


def test_both_clients_have_every_call() -> None:
    calls = {name for name in dir(Api) if not name.startswith("_")}
    for client in (Pith, AsyncPith):
        assert calls | {"close"} == {name for name in vars(client) if not name.startswith("_")}
    assert list(inspect.signature(Pith().wait).parameters) == ["job_id", "progress"]


def test_the_client_loads_no_library_of_tables_and_no_orchestrator() -> None:
    program = "import sys, pith_client; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", program], text=True).split()
    assert not {"numpy", "pandas", "polars", "pyarrow", "matplotlib", "app", "core"} & set(loaded)
    assert not {"airflow", "dagster", "mlflow"} & {name.split(".")[-1] for name in loaded}


def test_a_job_and_all_that_it_leaves(pith: Pith, table: Path, tmp_path: Path) -> None:
    dataset = pith.ready(pith.upload(table).id)
    completed = pith.validate(dataset.id, "y", k=2, method="mrmr")
    assert completed["method"] == {"name": "mrmr", "correct": False}
    estimate = pith.estimate(dataset.id, "y", k=2)
    assert estimate is not None
    assert estimate.seconds == pytest.approx(sum(estimate.phase_seconds.values()))
    assert "worker" in estimate.why
    with pytest.raises(Invalid, match="no column 'z'"):
        pith.estimate(dataset.id, "z")
    job = pith.wait(pith.submit(dataset.id, "y", k=2, labels={"test": "all"}).id)
    assert job.status == "succeeded"
    assert pith.place(job.id) is None
    assert job.finished_at is not None and job.finished_at - job.created_at > timedelta(0)
    result = pith.result(job.id)
    assert repr(result) == "<2 features for 'y': a, b>"
    assert [feature.gain for feature in result.selected] == [1.0, 0.5]
    assert result.suggested_k == 2
    assert pickle.loads(pickle.dumps(result)).names == ["a", "b"]
    (model,) = pith.factors(job.id)
    assert [variable.name for variable in model.variables] == ["a", "b", "y"]
    assert model.variables[0].factor == [[0.25, 0.75], [0.75, 0.25]]
    with np.load(pith.download_factors(job.id, tmp_path / "f.npz")) as arrays:
        assert arrays["0/weights"].tolist() == model.weights
    text = pith.download_factors(job.id, tmp_path / "f.json").read_text()
    assert json.loads(text)["models"] == [model.document]
    report = pith.download_report(job.id, tmp_path / "report.html").read_text()
    charts = pith.charts(job.id)
    assert charts["headline"] in report
    assert all(chart["svg"].startswith("<svg") for chart in charts["charts"])
    assert pith.cancel(job.id).status == "succeeded"
    assert "mrmr" in {method.name for method in pith.methods()}
    assert [found.id for found in pith.jobs(label="test=all")] == [job.id]
    pith.delete_job(job.id)
    with pytest.raises(NotFound) as error:
        pith.job(job.id)
    assert error.value.code == "job_not_found"


def test_columns_are_shown_and_read_in_another_way(pith: Pith, tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    rows = "".join(f"{i},5;K{i};{'ja' if i % 2 else 'nein'}\n" for i in range(60))
    file.write_text(f"price;key;y\n{rows}")
    dataset = pith.ready(pith.upload(file).id)
    assert [column.kind for column in dataset.columns] == ["number", "text", "boolean"]
    assert {w.code for w in pith.dataset_warnings(dataset.id, "y")} >= {"id_like"}
    (shown,) = pith.preview_columns(dataset.id, {"price": "category"})
    assert shown["cells"][0] == {"written": "0,5", "read": "0,5"}
    wishes: dict[str, Any] = {
        "price": {"kind": "number", "decimal": ",", "thousands": "."},
        "key": "ignore",
    }
    changed = pith.ready(pith.change_columns(dataset.id, wishes).id)
    assert (changed.version, changed.previous_id) == (2, dataset.id)
    assert [(column.name, column.max) for column in changed.columns] == [
        ("price", 59.5),
        ("y", None),
    ]
    again = pith.ready(pith.change_columns(changed.id, {"price": None, "key": None}).id)
    assert [column.kind for column in again.columns] == ["number", "text", "boolean"]


def test_lists_go_over_all_pages(service: Service, pith: Pith) -> None:
    ids = [service.upload(f"a,y\n{i},1\n".encode())["id"] for i in range(3)]
    listed = [dataset.id for dataset in pith.datasets(page_size=1)]
    assert listed[:3] == ids[::-1]
    assert listed == [dataset.id for dataset in pith.datasets()]


def test_events_are_followed_to_the_end(pith: Pith, table: Path) -> None:
    job = pith.submit(pith.upload(table).id, "y")
    followed = list(pith.events(job.id, follow=True))
    assert followed == list(pith.events(job.id))
    assert [event.seq for event in followed] == list(range(1, len(followed) + 1))
    assert (followed[0].kind, followed[-1].kind) == ("queued", "succeeded")


def test_the_awaited_client_does_the_same(service: Service, table: Path) -> None:
    async def select() -> None:
        async with AsyncPith(service.url) as pith:
            seen: list[str] = []
            result = await pith.select(
                table, "y", k=2, labels={"test": "async"}, progress=lambda job: seen.append(job.id)
            )
            assert result.names == ["a", "b"]
            assert set(seen) == {result.job_id}
            assert [job.id async for job in pith.jobs(label="test=async")] == [result.job_id]
            kinds = [event.kind async for event in pith.events(result.job_id, follow=True)]
            assert kinds[-1] == "succeeded"
            with pytest.raises(NotFound):
                await pith.job("job_" + "0" * 32)

    asyncio.run(select())


def test_cancelling_the_task_cancels_the_job(service: Service, pith: Pith, table: Path) -> None:
    async def interrupted() -> None:
        running = asyncio.Event()
        async with AsyncPith(service.url) as client:
            select = client.select(
                table, "slow", labels={"test": "task"}, progress=lambda job: running.set()
            )
            task = asyncio.create_task(select)
            await running.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(interrupted())
    (job,) = pith.jobs(label="test=task")
    assert pith.wait(job.id).status == "cancelled"
    with pytest.raises(JobCancelled, match=f"the job was cancelled .*{job.id}"):
        pith.resume(job.id)


def test_a_cancel_keeps_what_is_done(pith: Pith, tmp_path: Path) -> None:
    path = tmp_path / "judged.csv"
    path.write_bytes(b"a,b,judged\n1,2,3\n2,3,4\n")
    asked: list[Job] = []

    def keep(job: Job) -> None:
        if job.phase == "evaluate":
            asked.append(pith.cancel(job.id, keep=True))

    submitted = pith.submit(pith.upload(path).id, "judged")
    job = pith.wait(submitted.id, progress=keep)
    assert (job.status, job.partial) == ("succeeded", True)
    assert asked[0].document["keep_requested_at"] and not asked[0].document["cancel_requested_at"]
    result = pith.result(job.id)
    assert result.names == ["a", "b"]
    assert result.missing == [{"part": "evaluation", "n_done": 0, "n_asked": 5}]


def test_a_cancel_keeps_nothing_before_features_are_chosen(pith: Pith, table: Path) -> None:
    job = pith.submit(pith.upload(table).id, "slow")
    with pytest.raises(Conflict) as error:
        pith.cancel(job.id, keep=True)
    assert error.value.code == "nothing_to_keep"
    pith.cancel(job.id)
    assert pith.wait(job.id).status == "cancelled"


def test_the_same_key_finds_the_same_job(pith: Pith, table: Path) -> None:
    first = pith.select(table, "y", idempotency_key="churn-1")
    assert pith.select(table, "y", idempotency_key="churn-1").job_id == first.job_id
    assert pith.select(table, "y").job_id != first.job_id
    with pytest.raises(Invalid) as error:
        pith.select(table, "b", idempotency_key="churn-1")
    assert error.value.code == "idempotency_key_reused"


def test_an_unknown_column_is_told_with_the_nearest(pith: Pith, table: Path) -> None:
    dataset = pith.ready(pith.upload(table).id)
    with pytest.raises(Invalid, match="no column 'slo'; the nearest name is 'slow'") as error:
        pith.select(dataset, "slo")
    assert error.value.code == "unknown_column"
    assert [bad.pointer for bad in error.value.errors] == ["/target"]


def test_a_dataset_that_cannot_be_read_is_told_with_the_reason(pith: Pith, tmp_path: Path) -> None:
    path = tmp_path / "broken.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(JobFailed) as failed:
        pith.select(path, "y")
    assert failed.value.code == "dataset_rejected"
    with pytest.raises(DatasetRejected) as rejected:
        pith.ready(pith.upload(path).id)
    assert rejected.value.dataset.reason is not None
    assert rejected.value.dataset.reason in str(failed.value)
    with pytest.raises(ApiError) as refused:
        pith.select(rejected.value.dataset, "y")
    assert refused.value.code == "dataset_rejected"


def test_a_failed_job_is_told_with_its_sentence(pith: Pith, tmp_path: Path) -> None:
    path = tmp_path / "refused.csv"
    path.write_bytes(b"a,refused\n1,2\n")
    with pytest.raises(JobFailed, match="column 'refused' is constant") as error:
        pith.select(path, "refused")
    assert error.value.job.error is not None and not error.value.job.error.retryable


def test_mistakes_name_their_fields(pith: Pith, table: Path) -> None:
    dataset = pith.upload(table)
    with pytest.raises(Invalid) as error:
        pith.submit(dataset.id, "y", k=0, colour="red")  # type: ignore[call-arg]
    assert {bad.pointer for bad in error.value.errors} == {"/k", "/colour"}
    assert all(
        isinstance(bad, BadField) and bad.detail in str(error.value) for bad in error.value.errors
    )
    job = pith.submit(dataset.id, "slow")
    with pytest.raises(Conflict) as conflict:
        pith.result(job.id)
    assert conflict.value.problem["job_status"] in ("queued", "running")
    with pytest.raises(Conflict):
        pith.delete_dataset(dataset.id)
    pith.cancel(job.id)
    with pytest.raises(ValueError, match=r"must end in one of .json, .npz, .arrows"):
        pith.download_factors(job.id, "factors.txt")


def test_shorthands_become_a_specification() -> None:
    body = specification(
        "ds_1",
        "y",
        {
            "method": "mrmr",
            "compare": ["gsm_cpd", {"name": "rjmi", "alpha": 2.0}],
            "stability": 20,
            "evaluate": True,
        },
    )
    assert body == {
        "dataset_id": "ds_1",
        "target": "y",
        "method": {"name": "mrmr"},
        "compare": {"methods": [{"name": "gsm_cpd"}, {"name": "rjmi", "alpha": 2.0}]},
        "stability": {"n_samples": 20},
        "evaluate": {},
    }
    assert specification("ds_1", "y", {"stability": True})["stability"] == {}
    assert specification("ds_1", "y", {"evaluate": False}) == {"dataset_id": "ds_1", "target": "y"}
    compared = specification("ds_1", "y", {"compare": {"methods": ["jmi", "jmim"], "n_splits": 3}})
    assert compared["compare"] == {"methods": [{"name": "jmi"}, {"name": "jmim"}], "n_splits": 3}


def test_webhooks_are_made_changed_and_tried(pith: Pith) -> None:
    made = pith.create_webhook("https://example.org/hook", events=["job.failed"], name="mine")
    assert made.secret is not None and made.secret.startswith("whsec_")
    assert [one.id for one in pith.webhooks()] == [made.id]
    assert pith.update_webhook(made.id, labels={"a": "b"}).labels == {"a": "b"}
    assert pith.rotate_webhook(made.id).secret not in {None, made.secret}
    ping = pith.ping_webhook(made.id)
    assert [one.id for one in pith.deliveries(made.id)] == [ping.id]
    assert [one.id for one in pith.redeliver(made.id, ping.id)] == [ping.id]
    assert pith.webhook(made.id).secret is None
    pith.delete_webhook(made.id)
    assert list(pith.webhooks()) == []
