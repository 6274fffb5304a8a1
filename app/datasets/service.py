"""What callers do with datasets. Every transaction is visible here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anyio import to_thread
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.orm import Session

from app.actors import origin_of
from app.audit.lines import record
from app.audit.models import Action
from app.broker import READ_DATASET, Bell
from app.datasets import repository
from app.datasets.arrival import store_file
from app.datasets.formats import CsvOptions, Format
from app.datasets.keys import RAW, key_of
from app.datasets.models import Dataset
from app.datasets.reservations import Reservation, measure, release, reserved
from app.db.base import AnyRow, Reader, new_id
from app.db.clock import read_clock
from app.db.order import Position
from app.db.tenants import TenantDatabase, lock_tenant
from app.errors import Conflict, FieldError, Invalid, NotFound
from app.quota import UNLIMITED, Quota
from app.settings import Settings
from app.store.base import Store


@dataclass(frozen=True, kw_only=True)
class Upload:
    """Bytes that are in the store, waiting for their row."""

    dataset_id: str
    name: str | None
    format: Format
    options: CsvOptions
    sha256: str
    n_bytes: int
    version: int = 1
    previous_id: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def content_key(self) -> str:
        """The same for the same bytes, read in the same way."""
        reading = json.dumps([self.sha256, self.format, self.options.to_json()])
        return hashlib.sha256(reading.encode()).hexdigest()

    @property
    def lineage(self) -> dict[str, str]:
        """What the audit says of where it comes from."""
        return {} if self.previous_id is None else {"previous": self.previous_id}


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """A file that is about to come in, of `n_bytes` or more, and how it is to be read."""

    chunks: AsyncIterator[bytes]
    n_bytes: int
    name: str | None
    format: Format
    options: CsvOptions


async def receive(
    database: TenantDatabase,
    tenant: str,
    bell: Bell,
    store: Store,
    settings: Settings,
    arrival: Arrival,
) -> tuple[AnyRow, bool]:
    """Take in a file, if there is room for it; the answer tells whether the dataset is new."""
    quota = settings.quota
    room = Reservation(database, tenant, quota, new_id("ds"))
    async with reserved(room, arrival.n_bytes):
        upload = await _store(store, arrival, room, settings.max_upload_bytes)
        return await to_thread.run_sync(_register, database, tenant, bell, store, upload, quota)


async def _store(store: Store, arrival: Arrival, room: Reservation, max_bytes: int) -> Upload:
    key = key_of(room.tenant, room.upload_id, RAW)
    received = await store_file(store, key, room.pass_on(arrival.chunks), max_bytes)
    return Upload(
        dataset_id=room.upload_id,
        name=arrival.name,
        format=arrival.format,
        options=arrival.options,
        sha256=received.digest.hexdigest(),
        n_bytes=received.n_bytes,
    )


def _register(
    database: TenantDatabase, tenant: str, bell: Bell, store: Store, upload: Upload, quota: Quota
) -> tuple[AnyRow, bool]:
    with database.write(tenant) as session:
        return register(session, tenant, bell, store, upload, quota)


def register(
    session: Session,
    tenant: str,
    bell: Bell,
    store: Store,
    upload: Upload,
    quota: Quota = UNLIMITED,
) -> tuple[AnyRow, bool]:
    """Give an upload its row, commit, then ring; or drop it for the dataset that is there.

    One that was rejected is read again: another limit may hold now, or the fault may have passed.
    """
    try:
        with session.begin():
            lock_tenant(session, tenant)
            release(session, upload.dataset_id)
            known = repository.find_by_content(session, tenant, upload.content_key)
            if known is None:
                quota.room_for(upload.n_bytes, *measure(session, tenant))
                row = repository.add(session, _new_dataset(session, tenant, upload))
                record(session, tenant, Action.DATASET_CREATED, row.id, **upload.lineage)
            else:
                row = _reopened(session, tenant, known)
    except IntegrityError:  # the same bytes arrived at the same time
        return register(session, tenant, bell, store, upload, quota)
    except DBAPIError:
        # The answer to a commit may be what was lost: a row without bytes would be worse than bytes
        # without a row.
        raise
    except BaseException:
        store.delete(key_of(tenant, upload.dataset_id))
        raise
    if known is not None:
        store.delete(key_of(tenant, upload.dataset_id))
    if row is not known:
        bell.ring(READ_DATASET, row.id)
    return row, known is None


def _reopened(session: Session, tenant: str, known: AnyRow) -> AnyRow:
    row = repository.reopen(session, known.id)
    if row is None:
        return known
    record(session, tenant, Action.DATASET_REOPENED, known.id)
    return row


def _new_dataset(session: Session, tenant: str, upload: Upload) -> Dataset:
    now = read_clock(session)
    return Dataset(
        id=upload.dataset_id,
        tenant=tenant,
        name=upload.name,
        format=upload.format,
        options=upload.options.to_json(),
        content_key=upload.content_key,
        sha256=upload.sha256,
        n_bytes=upload.n_bytes,
        version=upload.version,
        previous_id=upload.previous_id,
        labels=dict(upload.labels),
        submitted_by=origin_of(session.info).actor.to_json(),
        created_at=now,
        available_at=now,
        enqueued_at=now,
    )


def get_dataset(
    session: Reader, tenant: str, dataset_id: str
) -> tuple[AnyRow, list[dict[str, Any]]]:
    """The dataset with the profile of its columns, or NotFound."""
    dataset = repository.read(session, tenant, dataset_id)
    if dataset is None:
        raise NotFound.of("dataset", dataset_id)
    return dataset, repository.read_columns(session, dataset_id)


def find_name(session: Reader, tenant: str, dataset_id: str) -> str | None:
    """What the dataset is called; None if it is not there any more, or has no name."""
    dataset = repository.read(session, tenant, dataset_id)
    return None if dataset is None else dataset.name


def list_datasets(
    session: Reader, tenant: str, wanted: repository.Wanted, after: Position | None, limit: int
) -> list[dict[str, Any]]:
    """One page, in the order that is wanted."""
    return repository.list_datasets(session, tenant, wanted, after, limit)


def describe(session: Session, tenant: str, dataset_id: str, values: Mapping[str, Any]) -> AnyRow:
    """Change its name or its labels, and nothing else."""
    guard = [Dataset.id == dataset_id, Dataset.tenant == tenant]
    with session.begin():
        row = (
            repository.change(session, guard, values)
            if values
            else repository.read(session, tenant, dataset_id)
        )
        if row is not None and values:
            record(session, tenant, Action.DATASET_CHANGED, dataset_id, fields=sorted(values))
    if row is None:
        raise NotFound.of("dataset", dataset_id)
    return row


def delete(
    session: Session,
    tenant: str,
    store: Store,
    dataset_id: str,
    is_used: Callable[[Session, str], bool],
) -> None:
    """Remove a dataset that no job needs, its row before its bytes.

    A submission holds a lock on the row until its job is there. Datasets know nothing of jobs, so
    that whoever calls brings the question.
    """
    with session.begin():
        if repository.lock(session, tenant, dataset_id, shared=False) is None:
            raise NotFound.of("dataset", dataset_id)
        if is_used(session, dataset_id):
            raise Conflict("a job that is not final uses the dataset", code="dataset_in_use")
        repository.remove(session, tenant, dataset_id)
        record(session, tenant, Action.DATASET_DELETED, dataset_id)
    store.delete(key_of(tenant, dataset_id))


def require_column(columns: Sequence[Mapping[str, Any]], name: str | None) -> None:
    """Invalid, if a column is named that the dataset has not."""
    if name is not None and name not in {column["name"] for column in columns}:
        detail = f"the dataset has no column {name!r}"
        errors = [FieldError("/target", detail, "query")]
        raise Invalid(detail, code="unknown_column", errors=errors)
