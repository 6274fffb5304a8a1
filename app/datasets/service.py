"""What callers do with datasets. Every transaction is visible here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from anyio import to_thread
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.orm import Session

from app.broker import READ_DATASET, Bell
from app.datasets import repository
from app.datasets.arrival import store_file
from app.datasets.formats import CsvOptions, Format
from app.datasets.models import Dataset
from app.datasets.store import RAW, Store, key_of
from app.db.base import AnyRow, Reader, new_id
from app.db.clock import read_clock
from app.db.tenants import TenantDatabase, lock_tenant
from app.errors import Conflict, NotFound, TooLarge
from app.quota import UNLIMITED, Quota
from app.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Upload:
    """Bytes that are in the store, waiting for their row."""

    dataset_id: str
    name: str | None
    format: Format
    options: CsvOptions
    sha256: str
    n_bytes: int

    @property
    def content_key(self) -> str:
        """The same for the same bytes, read in the same way."""
        reading = json.dumps([self.sha256, self.format, self.options.to_json()])
        return hashlib.sha256(reading.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """A file that is about to come in, and how it is to be read."""

    chunks: AsyncIterator[bytes]
    name: str | None
    format: Format
    options: CsvOptions


async def receive(
    database: TenantDatabase,
    tenant: str,
    bell: Bell,
    store: Store,
    settings: Settings,
    open_file: Callable[[int], Awaitable[Arrival]],
) -> tuple[AnyRow, bool]:
    """Take in a file, if there is room for it; the answer tells whether the dataset is new.

    How large the file is shows when it is here, how large it may be before it is opened.
    """
    quota, most = settings.quota, settings.max_upload_bytes
    room = await to_thread.run_sync(find_room, database, tenant, quota)
    try:
        upload = await _store(tenant, store, min(room, most), open_file)
    except TooLarge as refused:
        if room >= most:
            raise
        error = quota.too_many_bytes()
        error.headers |= refused.headers
        raise error from refused
    return await to_thread.run_sync(_register, database, tenant, bell, store, upload, quota)


def find_room(database: TenantDatabase, tenant: str, quota: Quota) -> int:
    """How many bytes more the tenant may upload, or TooMany."""
    measured = database.read_again(tenant, lambda session: repository.measure(session, tenant))
    return quota.room_for_upload(*measured)


async def _store(
    tenant: str, store: Store, max_bytes: int, open_file: Callable[[int], Awaitable[Arrival]]
) -> Upload:
    arrival, dataset_id = await open_file(max_bytes), new_id("ds")
    key = key_of(tenant, dataset_id, RAW)
    received = await store_file(store, key, arrival.chunks, max_bytes)
    return Upload(
        dataset_id=dataset_id,
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
            known = repository.find_by_content(session, tenant, upload.content_key)
            if known is None:
                quota.check_upload(*repository.measure(session, tenant), upload.n_bytes)
                row = repository.add(session, _new_dataset(session, tenant, upload))
            else:
                row = repository.reopen(session, known.id) or known
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
        raise _not_found(dataset_id)
    return dataset, repository.read_columns(session, dataset_id)


def list_datasets(
    session: Reader, tenant: str, before: tuple[datetime, str] | None, limit: int
) -> Sequence[AnyRow]:
    """One page, newest first."""
    return repository.list_datasets(session, tenant, before, limit)


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
            raise _not_found(dataset_id)
        if is_used(session, dataset_id):
            raise Conflict("a job that is not final uses the dataset", code="dataset_in_use")
        repository.remove(session, tenant, dataset_id)
    store.delete(key_of(tenant, dataset_id))


def _not_found(dataset_id: str) -> NotFound:
    return NotFound(f"there is no dataset {dataset_id}", code="dataset_not_found")
