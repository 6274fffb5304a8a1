"""Events reach those who asked, signed, in order and at least once, whatever receivers do."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from sqlalchemy import insert, select
from standardwebhooks import WebhookVerificationError

from app.datasets import reads, repository
from app.db.base import new_id
from app.db.clock import moment
from app.upkeep.sweeps import sweep_webhooks
from app.webhooks import history, lanes, service, turns
from app.webhooks.models import Delivery
from tests.app.protocol import OVER, TENANT
from tests.app.webhooks.conftest import Hooks
from tests.receivers import Receiver, receiver
from tests.servers import free_port

HOUR = timedelta(hours=1)


def test_the_end_of_a_job_is_told_signed_and_as_a_cloud_event(
    hooks: Hooks, hearing: Receiver
) -> None:
    _, secret = hooks.subscribe(hearing.url)
    job_id = hooks.finish(labels={"project": "churn"})
    hooks.deliver()
    (event,) = hearing.events(secret)
    assert (event["specversion"], event["type"]) == ("1.0", "job.succeeded")
    assert (event["source"], event["subject"]) == ("/v1/jobs", job_id)
    assert event["data"]["status"] == "succeeded"
    assert event["data"]["labels"] == {"project": "churn"}
    assert event["data"]["links"]["result"] == f"/v1/jobs/{job_id}/result"
    (headers, _), (delivery,) = hearing.received[0], hooks.deliveries()
    assert headers["content-type"] == "application/cloudevents+json"
    assert headers["webhook-id"] == event["id"] == delivery.event_id
    assert (delivery.status, delivery.attempts, delivery.last_status) == ("delivered", 1, 204)
    assert hooks.deliver() == 0


def test_every_end_has_its_event_and_filters_are_kept(hooks: Hooks, hearing: Receiver) -> None:
    hooks.subscribe(hearing.url, events=["job.cancelled", "dataset.rejected"])
    hooks.subscribe(f"{hearing.url}&of=a", labels={"team": "a"})
    hooks.finish(labels={"team": "b"})
    hooks.cancel(cancelled := hooks.submit(labels={"team": "a", "more": "x"}))
    uploaded = hooks.dataset(columns=None)
    with hooks.database.write() as session:
        claim, _ = reads.claim(session, uploaded, "reader", HOUR) or pytest.fail("not to be had")
        reads.reject(session, claim, "only one column")
    while hooks.deliver():
        pass
    told = [json.loads(body) for _, body in hearing.received]
    assert sorted((event["type"], event["subject"]) for event in told) == sorted(
        [("job.cancelled", cancelled)] * 2 + [("dataset.rejected", uploaded)]
    )


def test_what_does_not_happen_is_not_told(hooks: Hooks, hearing: Receiver) -> None:
    hooks.subscribe(hearing.url)
    work = hooks.claimed(hooks.submit())
    hooks.cancel(work.claim.job_id)
    assert not hooks.succeed(work)  # the cancel came first
    assert [delivery.event for delivery in hooks.deliveries()] == ["job.cancelled"]


@pytest.mark.parametrize("status", [500, 302, 400])
def test_a_receiver_that_fails_is_tried_again_later(
    hooks: Hooks, hearing: Receiver, status: int
) -> None:
    webhook_id, secret = hooks.subscribe(hearing.url)
    hooks.finish()
    hearing.status = status
    hooks.deliver()
    assert hooks.deliver() == 0  # not before its pause is over
    webhook, (delivery,) = hooks.webhook(webhook_id), hooks.deliveries()
    assert (webhook.n_failures, webhook.failing_since is not None) == (1, True)
    assert (delivery.status, delivery.last_status) == ("pending", status)
    assert (delivery.last_error or "").startswith("redirects") == (status == 302)
    hearing.status = 200
    hooks.let_pass(HOUR)
    hooks.deliver()
    assert len(hearing.received) == len(hearing.events(secret)) == 2
    assert len(set(hearing.ids())) == 1
    assert hooks.webhook(webhook_id).n_failures == 0
    assert hooks.deliveries()[0].status == "delivered"


def test_one_that_is_gone_hears_nothing_any_more(hooks: Hooks, hearing: Receiver) -> None:
    webhook_id, _ = hooks.subscribe(hearing.url)
    hooks.finish()
    hooks.finish()
    hearing.status = 410
    hooks.deliver()
    webhook = hooks.webhook(webhook_id)
    assert (webhook.status, "410" in webhook.off_reason) == ("off", True)
    assert [delivery.status for delivery in hooks.deliveries()] == ["dead", "dead"]
    hooks.finish()
    assert (len(hooks.deliveries()), hooks.deliver()) == (2, 0)


def test_one_that_is_dead_for_days_is_switched_off_and_says_so(hooks: Hooks) -> None:
    webhook_id, _ = hooks.subscribe(f"http://127.0.0.1:{free_port()}/")
    hooks.finish()
    hooks.deliver()
    (delivery,) = hooks.deliveries()
    assert delivery.last_error == "connection refused"
    hooks.let_pass(timedelta(days=4))
    hooks.deliver()
    webhook = hooks.webhook(webhook_id)
    assert (webhook.status, webhook.off_reason) == (
        "off",
        "nothing could be delivered for 3 days",
    )
    with hooks.database.write() as session:
        row = service.update(session, TENANT, webhook_id, {"enabled": True}, ())
        assert (row.status, row.n_failures, row.failing_since) == ("on", 0, None)


def test_what_was_tried_for_days_is_given_up(hooks: Hooks, hearing: Receiver) -> None:
    hooks.subscribe(hearing.url)
    hooks.finish()
    hooks.let_pass(timedelta(days=4))
    with hooks.database.write() as session:
        sweep_webhooks(session, hooks.bell, hooks.settings)
    assert [delivery.status for delivery in hooks.deliveries()] == ["dead"]
    assert hooks.deliver() == 0


def test_a_receiver_that_restarts_hears_everything(hooks: Hooks) -> None:
    port = free_port()
    _, secret = hooks.subscribe(f"http://127.0.0.1:{port}/hook?x=1")
    jobs = [hooks.finish() for _ in range(3)]
    hooks.deliver()
    with receiver(port) as back:
        hooks.let_pass(HOUR)
        hooks.deliver()
        assert [event["subject"] for event in back.events(secret)] == jobs


def test_a_receiver_that_does_not_answer_costs_its_time_and_no_more(
    hooks: Hooks, hearing: Receiver
) -> None:
    hooks.settings = hooks.settings.model_copy(update={"webhook_seconds": 0.2})
    hooks.postman._settings = hooks.settings
    hooks.subscribe(hearing.url)
    hooks.finish()
    hearing.released.clear()
    hooks.deliver()
    (delivery,) = hooks.deliveries()
    assert (delivery.status, delivery.last_status) == ("pending", None)
    assert delivery.last_error == "no answer within 0.2 s"


def test_events_of_one_subject_keep_their_order(hooks: Hooks, hearing: Receiver) -> None:
    hooks.subscribe(hearing.url)
    uploaded = hooks.dataset(columns=None)
    _read(hooks, uploaded, rejected=True)
    hearing.status = 500
    hooks.deliver()
    with hooks.database.write() as session, session.begin():
        repository.reopen(session, uploaded)
    _read(hooks, uploaded, rejected=False)
    hearing.status = 200
    with hooks.database.write() as session, session.begin():
        lanes.change(session, [], {"available_at": moment()})
    hooks.deliver()  # the first one waits, and the second behind it
    assert len(hearing.received) == 1
    hooks.let_pass(HOUR)
    hooks.deliver()
    told = [json.loads(body)["type"] for _, body in hearing.received]
    assert told == ["dataset.rejected"] * 2 + ["dataset.ready"]


def _read(hooks: Hooks, dataset_id: str, *, rejected: bool) -> None:
    with hooks.database.write() as session:
        claimed = reads.claim(session, dataset_id, new_id("reader"), HOUR)
        assert claimed is not None
        if rejected:
            reads.reject(session, claimed[0], "a reason")
        else:
            reads.accept(session, claimed[0], {"n_rows": 3, "columns": []})


def test_ten_thousand_for_a_dead_endpoint_hold_up_nobody(hooks: Hooks, hearing: Receiver) -> None:
    dead, _ = hooks.subscribe(f"http://127.0.0.1:{free_port()}/")
    hooks.finish()
    with hooks.database.write() as session, session.begin():
        (one,) = session.execute(select(*Delivery.__table__.columns)).mappings().all()
        copies = [{**one, "id": new_id("dlv"), "subject": new_id("job")} for _ in range(9_999)]
        session.execute(insert(Delivery), copies)
    hooks.subscribe(hearing.url, tenant="other")
    hooks.subscribe(f"{hearing.url}&own")
    hooks.finish()
    with hooks.database.read() as connection:
        assert len(lanes.find_due(connection, 100)) == 2  # the other tenant has no job
    assert hooks.deliver() == 2
    assert len(hearing.received) == 1
    assert hooks.deliver() == 0
    assert hooks.webhook(dead).n_failures == 1  # one attempt, however many wait
    assert sum(delivery.attempts for delivery in hooks.deliveries()) == 2


def test_a_sender_that_dies_leaves_nothing_undelivered(hooks: Hooks, hearing: Receiver) -> None:
    webhook_id, _ = hooks.subscribe(hearing.url)
    hooks.finish()
    with hooks.database.write() as session:
        lane = turns.claim(session, webhook_id, "dead", OVER)
        assert lane is not None
        assert turns.take(session, lane) is not None
        assert turns.claim(session, webhook_id, "other", HOUR) is None
    assert hooks.deliver() == 0
    with hooks.database.write() as session:
        sweep_webhooks(session, hooks.bell, hooks.settings)
    assert hooks.deliver() == 1
    assert len(hearing.received) == 1
    with hooks.database.write() as session:  # and the dead one, back again, changes nothing
        turns.release(session, lane)
        row = turns.claim(session, webhook_id, "next", HOUR)
        assert row is not None


def test_secrets_overlap(hooks: Hooks, hearing: Receiver) -> None:
    webhook_id, old = hooks.subscribe(hearing.url)
    with hooks.database.write() as session:
        _, new = service.rotate(session, TENANT, webhook_id, HOUR)
    hooks.finish()
    hooks.deliver()
    assert hearing.events(old) == hearing.events(new)
    with hooks.database.write() as session:
        _, newest = service.rotate(session, TENANT, webhook_id, timedelta(0))
    hearing.received.clear()
    hooks.finish()
    hooks.deliver()
    assert len(hearing.events(newest)) == 1
    for secret in (old, new):
        with pytest.raises(WebhookVerificationError):
            hearing.events(secret)


def test_a_private_network_is_called_only_where_it_is_allowed(
    hooks: Hooks, hearing: Receiver
) -> None:
    hooks.subscribe(hearing.url.replace("127.0.0.1", "localhost"))
    hooks.postman._settings = hooks.settings.model_copy(update={"allowed_networks": ""})
    hooks.finish()
    hooks.deliver()
    (delivery,) = hooks.deliveries()
    assert "not public" in delivery.last_error
    assert hearing.received == []


def test_an_address_that_a_job_names_is_told_of_that_job(hooks: Hooks, hearing: Receiver) -> None:
    hooks.finish()
    named = hooks.finish(notify=hearing.url)
    hooks.deliver()
    assert [json.loads(body)["subject"] for _, body in hearing.received] == [named]
    with hooks.database.read() as connection:
        (webhook,) = service.list_webhooks(connection, TENANT, None, 10)
    assert webhook.named_at is not None
    with hooks.database.write() as session:
        _, secret = service.rotate(session, TENANT, webhook.id, timedelta(0))
    hearing.status = 410
    hearing.received.clear()
    again = hooks.finish(notify=hearing.url)
    hooks.deliver()
    assert [event["subject"] for event in hearing.events(secret)] == [again]
    assert hooks.webhook(webhook.id).status == "off"
    hearing.status = 200
    hooks.finish(notify=hearing.url)  # is on again
    assert hooks.deliver() == 1


def test_deliveries_are_made_again_when_asked(hooks: Hooks, hearing: Receiver) -> None:
    webhook_id, _ = hooks.subscribe(hearing.url)
    hooks.finish()
    hooks.deliver()
    (delivery,) = hooks.deliveries()
    with hooks.database.write() as session:
        history.ping(session, TENANT, webhook_id)
        assert history.redeliver(session, TENANT, webhook_id, None) == []
        assert len(history.redeliver(session, TENANT, webhook_id, delivery.id)) == 1
    hooks.deliver()
    kinds = [json.loads(body)["type"] for _, body in hearing.received]
    assert sorted(kinds) == ["job.succeeded", "job.succeeded", "ping"]
