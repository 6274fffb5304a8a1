"""Who did what: every change a line, in its transaction, for ever, and of one tenant alone."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, delete, insert, select, text, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app.audit import lines
from app.audit.lines import Wanted, record
from app.audit.models import Action, AuditLine
from app.cli.keys import KeysConsole
from app.db.base import new_id
from app.db.clock import moment, read_clock
from app.db.session import Database
from app.db.tenants import TenantDatabase
from app.jobs.models import Job
from app.keys.scopes import Scope
from app.keys.token import id_of
from app.settings import Settings
from app.upkeep import retention
from tests.app.protocol import Protocol
from tests.app.running import ANSWER_SECONDS, CSV, Service
from tests.app.test_openapi import DOCUMENT

AGO = timedelta(days=400)


class Actor:
    """A caller whose every change is written down here too, by what it should be called."""

    def __init__(self, service: Service) -> None:
        self.token = service.key(new_id("t"), *Scope)
        headers = {"Authorization": f"Bearer {self.token}"}
        self.client = httpx.Client(base_url=service.url, headers=headers, timeout=ANSWER_SECONDS)
        self.expected: list[tuple[str, str, str]] = []
        self.operations: set[str] = set()

    def do(self, operation: str, action: Action | None, path: str, **options: Any) -> Any:
        (method,) = (
            method
            for path, item in DOCUMENT["paths"].items()
            for method, one in item.items()
            if one["operationId"] == operation
        )
        answer = self.client.request(method, path, **options)
        assert answer.is_success, answer.text
        body = answer.json() if answer.content else {}
        self.operations.add(operation)
        if action is not None:
            is_new = action.endswith((".created", ".submitted"))
            changed = body["id"] if is_new else path.split("/")[3]
            self.expected.append((action, changed, answer.headers["x-request-id"]))
        return body

    def wait_for(self, job_id: str) -> None:
        waiting = {"Prefer": "wait=10"}
        while self.client.get(f"/v1/jobs/{job_id}", headers=waiting).json()["finished_at"] is None:
            pass

    def audit(self, **query: Any) -> Any:
        answer = self.client.get("/v1/audit", params={"page_size": 100, **query})
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def actor(service: Service) -> Iterator[Actor]:
    """One who has done all that can be done."""
    actor = Actor(service)
    with actor.client:
        _datasets_and_jobs(service, actor)
        _webhooks_and_keys(actor)
        yield actor


def _datasets_and_jobs(service: Service, actor: Actor) -> None:
    csv = {"Content-Type": "text/csv"}
    upload = {"content": CSV, "headers": csv}
    created = actor.do("uploadDataset", Action.DATASET_CREATED, "/v1/datasets", **upload)
    actor.do("uploadDataset", None, "/v1/datasets", **upload)
    here = f"/v1/datasets/{created['id']}"
    _until_ready(actor, here)
    actor.do("describeDataset", Action.DATASET_CHANGED, here, json={"name": "other"})
    actor.do("describeDataset", None, here, json={})
    wish = {"columns": {"a": {"kind": "category"}}}
    again = actor.do("changeColumns", Action.DATASET_CREATED, f"{here}/columns", json=wish)
    source = service.data_dir / "lake" / "open" / "audit" / "table.csv"
    source.parent.mkdir()
    source.write_bytes(CSV)
    named = {"source": {"connection": "lake", "path": "open/audit/table.csv"}}
    referred = actor.do("uploadDataset", Action.DATASET_CREATED, "/v1/datasets", json=named)
    actor.do("readSchema", None, "/v1/datasets/schema", json=named)
    there = f"/v1/datasets/{referred['id']}"
    _until_ready(actor, there)
    actor.do("refreshDataset", None, f"{there}/refresh")
    source.write_bytes(CSV + CSV.splitlines(keepends=True)[-1])
    actor.do("refreshDataset", Action.DATASET_CREATED, f"{there}/refresh")
    order = {"dataset_id": created["id"], "target": "y", "k": 1}
    actor.do("checkJob", None, "/v1/jobs/check", json=order)
    job = actor.do("submitJob", Action.JOB_SUBMITTED, "/v1/jobs", json=order)
    path = f"/v1/jobs/{job['id']}"
    actor.do("describeJob", Action.JOB_CHANGED, path, json={"title": "mine", "labels": {"a": "b"}})
    actor.wait_for(job["id"])
    actor.do("cancelJob", None, f"{path}/cancel")
    out = {"connection": "lake", "path": "out/audit/{job_id}"}
    actor.do("exportJob", Action.JOB_EXPORTED, f"{path}/export", json=out)
    actor.do("deleteJob", Action.JOB_DELETED, path)
    slow = {"dataset_id": again["id"], "target": "slow", "k": 1}
    job = actor.do("submitJob", Action.JOB_SUBMITTED, "/v1/jobs", json=slow)
    actor.do("cancelJob", Action.JOB_CANCELLED, f"/v1/jobs/{job['id']}/cancel")
    actor.wait_for(job["id"])
    actor.do("deleteDataset", Action.DATASET_DELETED, here)


def _until_ready(actor: Actor, path: str) -> None:
    while (status := actor.client.get(path).json()["status"]) == "processing":
        time.sleep(0.1)
    assert status == "ready"


def _webhooks_and_keys(actor: Actor) -> None:
    url = {"url": "http://127.0.0.1:9/audit"}
    made = actor.do("createWebhook", Action.WEBHOOK_CREATED, "/v1/webhooks", json=url)
    here = f"/v1/webhooks/{made['id']}"
    actor.do("updateWebhook", Action.WEBHOOK_CHANGED, here, json={"name": "x"})
    actor.do("rotateWebhookSecret", Action.WEBHOOK_ROTATED, f"{here}/rotate", json={})
    ping = actor.do("pingWebhook", Action.WEBHOOK_PINGED, f"{here}/ping")
    again = {"json": {"delivery_id": ping["id"]}}
    actor.do("redeliver", Action.WEBHOOK_REDELIVERED, f"{here}/redeliver", **again)
    actor.do("deleteWebhook", Action.WEBHOOK_DELETED, here)
    key = actor.do("createKey", Action.KEY_CREATED, "/v1/keys", json={})
    actor.do("revokeKey", Action.KEY_REVOKED, f"/v1/keys/{key['id']}")
    actor.do("revokeKey", None, f"/v1/keys/{key['id']}")


def test_every_operation_that_changes_something_is_tried_here(actor: Actor) -> None:
    changing = {
        operation["operationId"]
        for item in DOCUMENT["paths"].values()
        for method, operation in item.items()
        if method != "get"
    }
    assert actor.operations == changing


def test_every_change_is_a_line_that_says_whose_it_was(actor: Actor) -> None:
    found = [line for line in actor.audit()["items"] if line["actor"]["kind"] == "key"][::-1]
    said = [(line["action"], line["object_id"], line["request_id"]) for line in found]
    assert said == actor.expected
    me = {"kind": "key", "id": id_of(actor.token), "name": "test", "issuer": None}
    assert all(line["actor"] == me for line in found)
    assert {line["address"] for line in found} == {"127.0.0.1"}
    (changed,) = (line for line in found if line["action"] == Action.JOB_CHANGED)
    assert changed["details"] == {"fields": ["labels", "title"]}
    (created, *_) = (line for line in found if line["action"] == Action.WEBHOOK_CREATED)
    assert created["details"] == {"host": "127.0.0.1"}
    jobs, datasets = (actor.client.get(f"/v1/{k}").json()["items"] for k in ("jobs", "datasets"))
    assert jobs and datasets
    assert all(item["submitted_by"] == me for item in (*jobs, *datasets))
    polled = actor.client.get(f"/v1/jobs/{jobs[0]['id']}").json()
    assert polled["submitted_by"] == me


def test_the_key_itself_was_made_past_the_api(actor: Actor) -> None:
    (line,) = actor.audit(object_id=id_of(actor.token))["items"]
    assert (line["action"], line["address"]) == (Action.KEY_CREATED, None)


def test_lines_are_paged_and_found(actor: Actor) -> None:
    everything = actor.audit()["items"]
    page = actor.audit(page_size=3)
    seen = list(page["items"])
    while page["next_page_token"]:
        page = actor.audit(page_size=3, page_token=page["next_page_token"])
        seen += page["items"]
    assert seen == everything
    middle = everything[len(everything) // 2]
    assert actor.audit(object_id=middle["object_id"])["items"] == [
        line for line in everything if line["object_id"] == middle["object_id"]
    ]
    for way, expected in (("created_after", -1), ("created_before", 1)):
        found = actor.audit(**{way: middle["created_at"]})["items"]
        assert found == [
            line
            for line in everything
            if (line["created_at"] < middle["created_at"]) == (expected == 1)
            and line["created_at"] != middle["created_at"]
        ]
    assert len(actor.audit(actor=id_of(actor.token))["items"]) == len(everything) - 1
    assert actor.audit(actor="ada")["items"] == []
    submitted = actor.audit(action=Action.JOB_SUBMITTED)["items"]
    assert {line["action"] for line in submitted} == {Action.JOB_SUBMITTED}


def test_it_is_for_the_scope_admin_of_the_same_tenant(service: Service, actor: Actor) -> None:
    usual = {"Authorization": f"Bearer {service.key(new_id('t'))}"}
    assert service.client.get("/v1/audit", headers=usual).status_code == 403
    other = {"Authorization": f"Bearer {service.key(new_id('t'), Scope.ADMIN)}"}
    items = service.client.get("/v1/audit", headers=other).json()["items"]
    assert [line["action"] for line in items] == [Action.KEY_CREATED]


@pytest.fixture
def session(database_url: str) -> Iterator[Session]:
    with Database(database_url, connections=0).write() as session:
        add_lines(session)
        yield session


def add_lines(session: Session) -> None:
    """A young line and an old one."""
    with session.begin():
        record(session, "acme", Action.JOB_DELETED, "job_1")
        row = session.execute(select(*AuditLine.__table__.columns)).one()
        old = {**row._mapping, "id": "aud_old", "created_at": moment(-AGO)}
        session.execute(insert(AuditLine).values(old))


def count(session: Session | Connection) -> int:
    return len(session.execute(select(AuditLine.id)).all())


def test_the_database_itself_lets_nobody_change_a_line(session: Session) -> None:
    everything = [update(AuditLine).values(actor_id="me"), delete(AuditLine)]
    if session.get_bind().dialect.name == "postgresql":
        everything.append(text("TRUNCATE audit_log"))  # type: ignore[arg-type]
    for statement in everything:
        with pytest.raises(DBAPIError, match="append-only"), session.begin():
            session.execute(statement, execution_options={"synchronize_session": False})
    with session.begin():
        cutoff = read_clock(session) - AGO / 2
    assert retention.remove_lines(session, cutoff) == 1
    with session.begin():
        assert count(session) == 1


def test_nor_does_a_tenant_remove_old_ones(postgres_url: str) -> None:
    with Database(postgres_url, connections=0).write() as session:
        add_lines(session)
    tenants = TenantDatabase(postgres_url, connections=2)
    old = delete(AuditLine).where(AuditLine.id == "aud_old")
    with tenants.write("acme") as mine, mine.begin():
        mine.execute(old, execution_options={"synchronize_session": False})
        assert count(mine) == 2
    with tenants.read("other") as theirs:
        assert lines.list_lines(theirs, "acme", Wanted(), None, 10) == []
    tenants.dispose()


def test_without_its_line_there_is_no_change(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol = Protocol(database_url)

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("no room for a line")

    dataset_id = protocol.dataset()
    monkeypatch.setattr("app.jobs.service.record", fail)
    with pytest.raises(RuntimeError, match="no room"):
        protocol.submit(dataset_id)
    with protocol.database.read() as connection:
        assert connection.execute(select(Job.id)).all() == []
    protocol.database.dispose()


def test_operators_leave_lines_too(
    sqlite_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with KeysConsole(Settings(database_url=sqlite_url, data_dir=tmp_path)) as console:
        console.create("acme", [Scope.READ], 1, "cli", as_json=True)
        key_id = json.loads(capsys.readouterr().out)["id"]
        console.revoke(key_id, as_json=True)
    with Database(sqlite_url, connections=0).read() as connection:
        found = lines.list_lines(connection, "acme", Wanted(object_id=key_id), None, 10)
    assert [line.action for line in found] == [Action.KEY_REVOKED, Action.KEY_CREATED]
    assert {line.actor["kind"] for line in found} == {"operator"}
