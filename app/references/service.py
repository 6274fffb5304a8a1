"""What callers do with data by reference. Every transaction is visible here."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.actors import origin_of
from app.audit.lines import record
from app.audit.models import Action
from app.broker import READ_DATASET, Bell
from app.connections.registry import AnyConnection, Connections
from app.datasets import repository
from app.datasets.formats import CsvOptions
from app.datasets.models import Dataset
from app.datasets.reservations import measure
from app.db.base import AnyRow, new_id
from app.db.clock import read_clock
from app.db.tenants import lock_tenant
from app.errors import Conflict, NotFound
from app.quota import Quota
from app.references.checks import check_source
from app.references.showing import looks_same
from app.references.source import Source
from app.settings import Settings

REFERENCE = "reference"


@dataclass(frozen=True)
class Reference:
    """A source that shall become a dataset; the same `key` again is the same dataset."""

    source: Source
    name: str | None = None
    key: str | None = None

    def content_key(self, dataset_id: str) -> str:
        """Of no bytes, which nobody has seen: another reading may find others."""
        what = [REFERENCE, self.source.model_dump(mode="json"), self.key or dataset_id]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()


def create(
    session: Session,
    tenant: str,
    bell: Bell,
    connections: Connections,
    reference: Reference,
    quota: Quota,
) -> tuple[AnyRow, bool]:
    """Write the row, commit, then ring; the answer tells whether the dataset is new."""
    check(tenant, connections, reference.source)
    dataset_id = new_id("ds")
    with session.begin():
        lock_tenant(session, tenant)
        content_key = reference.content_key(dataset_id)
        known = repository.find_by_content(session, tenant, content_key)
        if known is not None:
            return known, False
        quota.room_for(0, *measure(session, tenant))
        row = repository.add(session, _row(session, tenant, dataset_id, reference, content_key))
        record(session, tenant, Action.DATASET_CREATED, row.id)
    bell.ring(READ_DATASET, row.id)
    return row, True


def check(tenant: str, connections: Connections, source: Source) -> AnyConnection:
    """The tenant's connection; refuse what it cannot have, or may not give."""
    connection = connections.find(tenant, source.connection, "/source/connection")
    check_source(connection, source)
    return connection


def _row(
    session: Session, tenant: str, dataset_id: str, reference: Reference, content_key: str
) -> Dataset:
    now = read_clock(session)
    return Dataset(
        id=dataset_id,
        tenant=tenant,
        name=reference.name,
        format=REFERENCE,
        options=CsvOptions().to_json(),
        content_key=content_key,
        sha256="",
        n_bytes=0,
        source=reference.source.model_dump(mode="json"),
        submitted_by=origin_of(session.info).actor.to_json(),
        created_at=now,
        available_at=now,
        enqueued_at=now,
    )


def refresh(
    session: Session,
    tenant: str,
    bell: Bell,
    connections: Connections,
    dataset_id: str,
    settings: Settings,
) -> tuple[AnyRow, bool]:
    """Read the same reference again, as another dataset; the newest one while it will do.

    It will while it is being read, and when nothing has changed since.
    """
    with session.begin():
        row = repository.read(session, tenant, dataset_id)
        if row is None:
            raise NotFound.of("dataset", dataset_id)
        if row.source is None:
            detail = "the dataset was uploaded: there is nothing to read again"
            raise Conflict(detail, code="no_source")
        row = _newest(session, tenant, row)
    reference = _again(row)
    connection = check(tenant, connections, reference.source)
    if row.finished_at is None or (
        row.origin is not None and looks_same(connection, row, settings)
    ):
        return row, False
    return create(session, tenant, bell, connections, reference, settings.quota)


def _newest(session: Session, tenant: str, row: AnyRow) -> AnyRow:
    """The last that came of refreshing it, and that, and so on."""
    while later := repository.find_by_content(session, tenant, _again(row).content_key("")):
        row = later
    return row


def _again(row: AnyRow) -> Reference:
    """What a refresh of the dataset reads; two who ask for it at the same time get the same."""
    return Reference(Source.model_validate(row.source), row.name, f"after {row.id}")
