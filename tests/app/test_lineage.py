"""Real events of real jobs, read by the classes that OpenLineage's own client has for them."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import attr
import pytest
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.generated import (
    column_lineage_dataset,
    dataset_version_dataset,
    error_message_run,
    job_type_job,
    processing_engine_run,
    schema_dataset,
    symlinks_dataset,
)
from openlineage.client.serde import Serde
from sqlalchemy import select, update

from app.connections.definitions import FILE
from app.connections.registry import Connections
from app.datasets.models import Dataset
from app.db.base import NO_SYNC
from app.db.tenants import lock_tenant
from app.jobs import runs
from app.lineage.events import input_facets
from app.lineage.outbox import open_lane
from app.lineage.sources import identify
from app.webhooks.models import Delivery
from tests.app.protocol import TENANT, Protocol
from tests.app.running import Service
from tests.receivers import Receiver
from tests.servers import until

FACETS: dict[str, Any] = {
    "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet,
    "version": dataset_version_dataset.DatasetVersionDatasetFacet,
    "errorMessage": error_message_run.ErrorMessageRunFacet,
    "jobType": job_type_job.JobTypeJobFacet,
    "processing_engine": processing_engine_run.ProcessingEngineRunFacet,
    "schema": schema_dataset.SchemaDatasetFacet,
    "symlinks": symlinks_dataset.SymlinksDatasetFacet,
}


def read_facets(facets: dict[str, Any]) -> dict[str, Any]:
    """Each by its class, which names the same version of the same schema and knows every field."""
    read = {}
    for name, facet in facets.items():
        own = {key: value for key, value in facet.items() if not key.startswith("_")}
        assert set(own) <= {field.name for field in attr.fields(FACETS[name])}
        read[name] = FACETS[name](**own)
        assert facet["_schemaURL"] == FACETS[name]._get_schema()
    return read


def read_dataset(one: dict[str, Any]) -> dict[str, Any]:
    return {**one, "facets": read_facets(one["facets"])}


def read_event(event: dict[str, Any]) -> RunEvent:
    """The event as OpenLineage's client would have made it; its validators have seen it."""
    run, job = event["run"], event["job"]
    made = RunEvent(
        eventType=RunState(event["eventType"]),
        eventTime=event["eventTime"],
        run=Run(run["runId"], read_facets(run["facets"])),
        job=Job(job["namespace"], job["name"], read_facets(job["facets"])),
        producer=event["producer"],
        inputs=[InputDataset(**read_dataset(one)) for one in event["inputs"]],
        outputs=[OutputDataset(**read_dataset(one)) for one in event["outputs"]],
    )
    assert event["schemaURL"] == made._get_schema()
    assert event.keys() == Serde.to_dict(made).keys()
    return made


def heard(lineage: Receiver, job_id: str) -> list[RunEvent]:
    """What was told of a job, in order; twice is as good as once."""
    run_id = str(UUID(job_id.removeprefix("job_")))
    told = [json.loads(body) for body in dict.fromkeys(body for _, body in list(lineage.received))]
    return [read_event(event) for event in told if event["run"]["runId"] == run_id]


def kinds(events: list[RunEvent]) -> list[str]:
    return [event.eventType.value for event in events if event.eventType is not None]


def test_which_columns_went_into_a_result(service: Service, lineage: Receiver) -> None:
    dataset_id = service.ready_dataset()
    job_id = service.submit(dataset_id, k=2, title="churn")
    until(lambda: len(heard(lineage, job_id)) == 2)
    started, completed = heard(lineage, job_id)
    assert kinds([started, completed]) == ["START", "COMPLETE"]
    assert (started.job.namespace, started.job.name) == ("pith", "default/churn")
    assert started.inputs is not None
    assert completed.outputs is not None
    (read,), (made,) = started.inputs, completed.outputs
    assert read.name == f"default/{dataset_id}"
    assert read.facets is not None
    assert made.facets is not None
    columns: Any = read.facets["schema"]
    assert [field["name"] for field in columns.fields] == ["a", "b", "slow", "y"]
    choice: Any = made.facets["columnLineage"]
    sources = {
        name: [part["field"] for part in field["inputFields"]]
        for name, field in choice.fields.items()
    }
    assert sources == {"a": ["a"], "b": ["b"], "y": ["y"]}
    assert {part["name"] for part in choice.dataset} == {read.name}
    headers = {headers["authorization"] for headers, _ in lineage.received}
    assert headers == {"Bearer hush"}


def test_how_runs_end_and_whose_the_lane_is(service: Service, lineage: Receiver) -> None:
    failed = service.submit(service.ready_dataset(b"a,refused\n1,x\n2,y\n"), target="refused")
    cancelled = service.submit(service.ready_dataset(), target="slow")
    service.until(f"/v1/jobs/{cancelled}", lambda job: job["status"] == "running")
    service.client.post(f"/v1/jobs/{cancelled}/cancel")
    rejected = service.upload(b"a,a\n1,2\n")["id"]
    hopeless = service.client.post("/v1/jobs", json={"dataset_id": rejected, "target": "a"})
    until(lambda: len(heard(lineage, failed)) == len(heard(lineage, cancelled)) == 2)
    assert kinds(heard(lineage, failed)) == ["START", "FAIL"]
    assert kinds(heard(lineage, cancelled)) == ["START", "ABORT"]
    facets: Any = heard(lineage, failed)[1].run.facets
    assert "constant" in facets["errorMessage"].message
    if hopeless.status_code == 202:  # unless it had been rejected by then
        never_ran = hopeless.json()["id"]
        until(lambda: kinds(heard(lineage, never_ran)) == ["START", "FAIL"])
    # The lane is the operator's.
    listed = service.client.get("/v1/webhooks", params={"page_size": 100}).json()["items"]
    assert all(webhook["url"].startswith("http") for webhook in listed)


def test_a_run_that_ends_in_the_queue_starts_before_it_ends(database_url: str) -> None:
    """Both are written at one moment, and ids are random."""
    protocol = Protocol(database_url)
    with protocol.database.write() as session, session.begin():
        lock_tenant(session, TENANT)
        open_lane(session, TENANT, "pith")
    jobs = [protocol.submit(protocol.dataset(None)) for _ in range(8)]
    with protocol.database.write() as session:
        with session.begin():
            rejected = update(Dataset).values(status="rejected", reason="x")
            session.execute(rejected, execution_options=NO_SYNC)
        runs.refuse_hopeless(session)
        ordered = select(Delivery.event).order_by(Delivery.created_at, Delivery.id)
        told = [session.execute(ordered.where(Delivery.subject == job)).scalars() for job in jobs]
        assert [list(events) for events in told] == [["lineage.start", "lineage.fail"]] * 8
    protocol.database.dispose()


CONNECTIONS = {
    "lake": {"type": "s3", "url": "s3://lake/raw"},
    "disk": {"type": "file", "url": "file:///srv/data"},
    "web": {"type": "https", "hosts": ["example.org"]},
    "shop": {"type": "postgres", "url": "postgresql://reader@db.example.org/shop"},
}


@pytest.mark.parametrize(
    ("source", "place"),
    [
        (("lake", "sales/*.parquet", None), ("s3://lake", "raw/sales/*.parquet", "FILE")),
        (("lake", None, "orders"), ("s3://lake", "raw/orders", "TABLE")),
        (("disk", "a.csv", None), ("file", "/srv/data/a.csv", "FILE")),
        (("web", "https://example.org/a.csv", None), ("https://example.org", "/a.csv", "FILE")),
        (
            ("shop", None, "orders"),
            ("postgres://db.example.org:5432", "shop.public.orders", "TABLE"),
        ),
    ],
)
def test_data_by_reference_is_named_as_others_name_it(
    source: tuple[str, str | None, str | None], place: tuple[str, str, str]
) -> None:
    connections = Connections(FILE.validate_python(CONNECTIONS))
    asked = dict(zip(("connection", "path", "table"), source, strict=True), query=None)
    named = identify(connections, asked)
    assert named is not None
    assert (named["namespace"], named["name"], named["type"]) == place
    row: Any = SimpleNamespace(sha256="00")
    assert "symlinks" in read_facets(input_facets(row, [], named))
    assert identify(connections, {**asked, "query": "select 1"}) is None
