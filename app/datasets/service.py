"""What callers do with datasets. Every transaction is visible here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.orm import Session

from app.broker import READ_DATASET, Bell
from app.datasets import repository
from app.datasets.formats import CsvOptions, Format
from app.datasets.models import Dataset
from app.datasets.store import Store, key_of
from app.db.base import AnyRow, Reader, utc_now
from app.db.tenants import lock_tenant
from app.errors import Conflict, NotFound
from app.quota import UNLIMITED, Quota


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


def find_room(session: Reader, tenant: str, quota: Quota) -> int:
    """How many bytes more the tenant may upload, or TooMany."""
    return quota.room_for_upload(*repository.measure(session, tenant))


def register(
    session: Session,
    tenant: str,
    bell: Bell,
    store: Store,
    upload: Upload,
    quota: Quota = UNLIMITED,
) -> tuple[AnyRow, bool]:
    """Give an upload its row, commit, then ring; or drop it for the dataset that is there."""
    try:
        with session.begin():
            lock_tenant(session, tenant)
            known = repository.find_by_content(session, tenant, upload.content_key)
            if known is None:
                quota.check_upload(*repository.measure(session, tenant), upload.n_bytes)
            row = known or repository.add(session, _new_dataset(tenant, upload))
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
        return row, False
    bell.ring(READ_DATASET, row.id)
    return row, True


def _new_dataset(tenant: str, upload: Upload) -> Dataset:
    now = utc_now()
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
