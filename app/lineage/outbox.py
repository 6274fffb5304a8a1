"""Lineage goes out as webhooks do: written with what makes it true, delivered by the same lanes.

The lane belongs to a tenant, as its rows do, but is the operator's: no caller sees or changes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.connections.registry import Connections
from app.datasets import repository as datasets
from app.db.base import AnyRow, new_id
from app.db.clock import read_clock
from app.lineage.events import Run, input_facets
from app.lineage.sources import identify
from app.webhooks import repository
from app.webhooks.models import LINEAGE, Delivery, WebhookStatus
from app.webhooks.service import new_webhook, switch

EVENT = "lineage.{}"
# Deliveries go out in the order of their times, which SQLite tells in milliseconds.
TICK = timedelta(milliseconds=1)


def open_lane(session: Session, tenant: str, namespace: str) -> None:
    """See that lineage of this tenant goes out; within a transaction that has locked the tenant."""
    now, known = read_clock(session), repository.read_by_url(session, tenant, LINEAGE)
    values = {"name": namespace, "named_at": now}
    if known is None:
        fields = {"url": LINEAGE, "events": [], **values}
        repository.add(session, new_webhook(tenant, fields, "", now))
    elif known.status == WebhookStatus.OFF or known.name != namespace:
        repository.change_lineage(session, tenant, {**switch(True), **values})


def tell_start(session: Session, job: AnyRow, connections: Connections) -> None:
    """A worker has begun with a job; told once, also if another has to begin anew."""
    lane, dataset = _lane(session, job), datasets.read(session, job.tenant, job.dataset_id)
    if lane is None or dataset is None or _is_told(session, lane, job):
        return
    columns = datasets.read_columns(session, dataset.id)
    facets = input_facets(dataset, columns, identify(connections, dataset.source))
    now = read_clock(session)
    _write(session, lane, job, Run.of(lane.name, job).started(now, facets), now)


def tell_end(session: Session, job: AnyRow, document: Mapping[str, Any] | None) -> None:
    """A job is over; `document` is its result, if it has one."""
    lane = _lane(session, job)
    if lane is None:
        return
    run, now = Run.of(lane.name, job), read_clock(session)
    if not _is_told(session, lane, job):  # it ended in the queue, and every run has a start
        _write(session, lane, job, run.started(job.finished_at, {}), now - TICK)
    outputs = [] if document is None else [run.output(_chosen(document))]
    _write(session, lane, job, run.ended(job.status, job.finished_at, job.error, outputs), now)


def _chosen(document: Mapping[str, Any]) -> dict[str, str]:
    """Every chosen feature and the column that it is, or is a part of."""
    parts = {part["name"]: part["source_column"] for part in document.get("derived", ())}
    names = [feature["name"] for feature in document["selected"]]
    return {name: parts.get(name, name) for name in names}


def _lane(session: Session, job: AnyRow) -> AnyRow | None:
    lane = repository.read_by_url(session, job.tenant, LINEAGE)
    return None if lane is None or lane.status == WebhookStatus.OFF else lane


def _is_told(session: Session, lane: AnyRow, job: AnyRow) -> bool:
    start = (Delivery.event == EVENT.format("start"), Delivery.subject == job.id)
    told = select(Delivery.id).where(Delivery.webhook_id == lane.id, *start)
    return session.execute(told).first() is not None


def _write(
    session: Session, lane: AnyRow, job: AnyRow, event: Mapping[str, Any], now: datetime
) -> None:
    session.add(
        Delivery(
            id=new_id("dlv"),
            webhook_id=lane.id,
            tenant=job.tenant,
            event_id=new_id("evt"),
            event=EVENT.format(event["eventType"].lower()),
            subject=job.id,
            body=json.dumps(event),
            trace=job.trace,
            next_at=now,
            pending_since=now,
            created_at=now,
        )
    )
    session.flush()
