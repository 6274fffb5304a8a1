"""Webhooks through the running service: made, tried, told, changed, refused."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from app.db.base import new_id
from tests.app.running import Service
from tests.receivers import Receiver
from tests.servers import until


def test_from_a_webhook_to_the_news_of_a_job(service: Service, hearing: Receiver) -> None:
    made = service.client.post("/v1/webhooks", json={"url": hearing.url, "labels": {"t": "me"}})
    assert made.status_code == 201, made.text
    here, secret = made.headers["location"], made.json()["secret"]
    assert "secret" not in service.client.get(here).json()
    assert service.client.post(f"{here}/ping").json()["event"] == "ping"
    until(lambda: hearing.received)
    ping = hearing.events(secret)[0]
    assert (ping["type"], ping["subject"]) == ("ping", made.json()["id"])
    job_id = service.submit(service.ready_dataset(), k=1, labels={"t": "me"})
    until(lambda: len(set(hearing.ids())) == 2)  # each may come more than once
    event = hearing.events(secret)[-1]
    assert (event["type"], event["subject"]) == ("job.succeeded", job_id)
    path = f"{here}/deliveries"
    done = service.until(path, lambda page: {d["status"] for d in page["items"]} == {"delivered"})
    assert [delivery["event"] for delivery in done["items"]] == ["job.succeeded", "ping"]
    assert service.client.get(path, params={"status": "dead"}).json()["items"] == []
    sent = hearing.ids()
    again = service.client.post(f"{here}/redeliver", json={"delivery_id": done["items"][0]["id"]})
    assert again.status_code == 202
    until(lambda: len(hearing.ids()) > len(sent))
    assert hearing.ids()[-1] == sent[-1]
    assert service.client.delete(here).status_code == 204
    assert service.client.get(here).json()["code"] == "webhook_not_found"


def test_a_job_names_its_own_address(service: Service, hearing: Receiver) -> None:
    job_id = service.submit(service.ready_dataset(), k=1, notify=hearing.url)
    until(lambda: hearing.received)
    assert json.loads(hearing.received[0][1])["subject"] == job_id


def test_what_a_webhook_can_be_changed_to(service: Service) -> None:
    url = f"https://example.org/{new_id('x')}"
    here = service.client.post("/v1/webhooks", json={"url": url}).headers["location"]
    changed = service.client.patch(here, json={"enabled": False, "events": ["job.failed"]})
    assert (changed.json()["enabled"], changed.json()["events"]) == (False, ["job.failed"])
    assert "owner" in changed.json()["off_reason"]
    for part in ("ping", "redeliver"):
        refused = service.client.post(f"{here}/{part}", json={})
        assert (refused.status_code, refused.json()["code"]) == (409, "webhook_off")
    assert service.client.patch(here, json={"enabled": True}).json()["off_reason"] is None
    first = service.client.post(f"{here}/rotate", json={}).json()["secret"]
    assert service.client.post(f"{here}/rotate", json={}).json()["secret"] != first
    missing = {"delivery_id": new_id("dlv")}
    unknown = service.client.post(f"{here}/redeliver", json=missing)
    assert unknown.json()["code"] == "delivery_not_found"
    twice = service.client.post("/v1/webhooks", json={"url": url})
    assert (twice.status_code, twice.json()["code"]) == (409, "webhook_exists")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"url": "ftp://example.org"}, "/url"),
        ({"url": "http://user:pass@example.org"}, "/url"),
        ({"url": "http://10.0.0.1/"}, "/url"),
        ({"url": "http://[::ffff:169.254.169.254]/"}, "/url"),
        ({"url": "https://example.org/a b"}, "/url"),
        ({"url": f"https://example.org/{'x' * 1024}"}, "/url"),
        ({"url": "https://example.org", "events": ["job.began"]}, "/events/0"),
        ({"url": "https://example.org", "labels": {"a b": "c"}}, "/labels/a b"),
        ({"url": "https://example.org", "colour": "red"}, "/colour"),
    ],
)
def test_what_makes_no_sense_is_refused(
    service: Service, body: dict[str, Any], pointer: str
) -> None:
    refused: httpx.Response = service.client.post("/v1/webhooks", json=body)
    assert refused.status_code == 422, refused.text
    assert refused.json()["errors"][0]["pointer"] == pointer
