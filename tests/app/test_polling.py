"""Watching a job: polls, waits, events, streams."""

from __future__ import annotations

import json
from typing import Any, get_args

from pydantic import TypeAdapter

from app.api.polling.answers import KEPT_BYTES, OBJECT_BYTES, Answer, keep_answers
from app.api.schemas.events import KINDS, EventRead
from app.api.schemas.jobs import JobRead
from app.db.base import new_id
from tests.app.running import Service

MIB = 1 << 20


def test_progress_is_seen_while_it_runs(service: Service) -> None:
    job_id = service.submit(service.ready_dataset(), target="slow")
    path = f"/v1/jobs/{job_id}"
    running = service.until(path, lambda job: job["loglik"] is not None)
    assert running["status"] == "running"
    assert running["phase"] == "fit"
    assert 0 < running["progress"] < 1
    assert running["seconds_left"] > 0
    assert service.client.get(f"{path}/result").status_code == 409
    cancelled = service.client.post(f"{path}/cancel")
    assert cancelled.status_code == 202
    assert cancelled.json()["cancel_requested_at"]
    final = service.final(job_id)
    assert (final["status"], final["seconds_left"]) == ("cancelled", None)
    again = service.client.post(f"{path}/cancel")
    assert again.status_code == 200
    assert again.json()["status"] == "cancelled"


def test_events_as_json_and_as_stream(service: Service) -> None:
    job_id = service.submit(service.ready_dataset(), k=2)
    path = f"/v1/jobs/{job_id}/events"
    streamed = list(stream(service, path))
    kinds = [event["kind"] for event in streamed]
    assert set(kinds) <= set(KINDS)
    typed = TypeAdapter(list[EventRead]).validate_python(streamed)
    assert [event.kind for event in typed] == kinds
    assert kinds[:2] == ["queued", "started"]
    assert kinds[-1] == "succeeded"
    assert [e["data"]["name"] for e in streamed if e["kind"] == "selected"] == ["a", "b"]
    assert [e["seq"] for e in streamed] == list(range(1, len(streamed) + 1))
    assert list(pages(service, path)) == streamed
    assert list(stream(service, path, last="4")) == streamed[4:]
    heard = {"accept": "text/event-stream", "last-event-id": str(len(streamed))}
    assert service.client.get(path, headers=heard).status_code == 204


def stream(service: Service, path: str, last: str = "") -> Any:
    headers = {"accept": "text/event-stream"} | ({"last-event-id": last} if last else {})
    with service.client.stream("GET", path, headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        blocks = "".join(response.iter_text()).split("\n\n")
    assert blocks.pop() == ""
    for block in blocks:
        if not block.startswith(":"):
            fields = dict(line.split(": ", 1) for line in block.splitlines())
            event = json.loads(fields.pop("data"))
            assert fields == {"id": str(event["seq"]), "event": event["kind"]}
            yield event


def pages(service: Service, path: str) -> Any:
    query: dict[str, Any] = {"page_size": 3}
    while True:
        page = service.client.get(path, params=query).json()
        yield from page["items"]
        if page["next_page_token"] is None:
            return
        query["page_token"] = page["next_page_token"]


def test_polling_with_etag_and_wait(service: Service) -> None:
    job_id = service.submit(service.ready_dataset(), k=1)
    path = f"/v1/jobs/{job_id}"
    service.final(job_id)
    first = service.client.get(path)
    JobRead.model_validate(first.json())
    assert "retry-after" not in first.headers
    tag = first.headers["etag"]
    for known in (tag, f"W/{tag}", f'"0", {tag}', "*"):
        unchanged = service.client.get(path, headers={"if-none-match": known})
        assert (unchanged.status_code, unchanged.content) == (304, b""), known
        assert unchanged.headers["etag"] == tag
    assert service.client.get(path, headers={"if-none-match": '"0"'}).status_code == 200


def test_a_known_version_makes_no_bad_id_good(service: Service) -> None:
    answers = [
        service.client.get(f"/v1/jobs/{job_id}", headers={"if-none-match": "*"})
        for job_id in (new_id("job"), "job_1")
    ]
    assert [answer.status_code for answer in answers] == [404, 404]


def test_wait_answers_when_something_changes(service: Service) -> None:
    dataset_id = service.ready_dataset()
    response = service.client.post("/v1/jobs", json={"dataset_id": dataset_id, "target": "slow"})
    assert response.headers["retry-after"] == "1"
    path, tag = response.headers["location"], response.headers["etag"]
    headers = {"if-none-match": tag, "prefer": "wait=50"}
    changed = service.client.get(path, headers=headers)
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag
    assert changed.headers["preference-applied"] == "wait=50"
    service.client.post(f"{path}/cancel")


def test_answers_are_kept_by_their_bytes() -> None:
    """4,096 of the largest specifications would take gigabytes."""
    answers = keep_answers()
    for i in range(4096):
        answers[f"job_{i}"] = Answer(1, False, b"x" * MIB)
    assert len(answers) == KEPT_BYTES // (MIB + OBJECT_BYTES)
    assert answers.weight <= KEPT_BYTES
    assert answers.get("job_4095") is not None
    assert answers.get("job_0") is None
    for _ in range(100):
        answers["job_4095"] = Answer(2, False, b"")
    assert answers.weight == (len(answers) - 1) * (MIB + OBJECT_BYTES) + OBJECT_BYTES


def test_lists_carry_summaries(service: Service) -> None:
    dataset_id, label = service.ready_dataset(), new_id("run")
    compare = {"methods": [{"name": "mrmr"}, {"name": "jmi"}]}
    plain = service.submit(dataset_id, k=2, labels={"run": label})
    service.final(plain)
    service.submit(dataset_id, labels={"run": label}, method={"name": "mrmr"}, compare=compare)
    page = service.client.get("/v1/jobs", params={"label": f"run={label}"}).json()
    newest, oldest = page["items"]
    assert all("specification" not in job and "phase_seconds" not in job for job in page["items"])
    assert (oldest["target"], oldest["k"], oldest["method"], oldest["compared"]) == (
        *("y", 2, "gsm_cpd"),
        None,
    )
    whole = service.client.get(f"/v1/jobs/{plain}").json()
    assert oldest["chosen"] == whole["chosen"][:4]
    assert (newest["k"], newest["method"], newest["compared"]) == ("auto", "mrmr", ["mrmr", "jmi"])


def test_events_of_a_live_job_can_be_asked_for_again(service: Service) -> None:
    job_id = service.submit(service.ready_dataset(), target="slow")
    path = f"/v1/jobs/{job_id}/events"
    page = service.client.get(path).json()
    assert page["next_page_token"] is not None
    seen = [event["seq"] for event in page["items"]]
    service.client.post(f"/v1/jobs/{job_id}/cancel")
    service.final(job_id)
    while page["next_page_token"] is not None:
        page = service.client.get(path, params={"page_token": page["next_page_token"]}).json()
        seen += [event["seq"] for event in page["items"]]
    assert seen == list(range(1, len(seen) + 1))
    assert page["items"][-1]["kind"] == "cancelled"


def test_every_kind_of_event_has_a_schema() -> None:
    kinds = [
        kind
        for one in get_args(get_args(EventRead)[0])
        for kind in get_args(one.model_fields["kind"].annotation)
    ]
    assert sorted(kinds) == KINDS
