"""All SQL about datasets. Nothing here begins or commits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from app import leases
from app.datasets.models import Dataset, DatasetStatus
from app.db.base import NO_SYNC, SWEEP_LIMIT, AnyRow, Reader
from app.db.order import Order, Orders, Position
from app.leases import Claim

HIDDEN = {"columns", "owner"}
LISTED = tuple(c for c in Dataset.__table__.columns if c.name not in HIDDEN)


ORDERS: Orders = {
    "newest": Order(Dataset.created_at, Dataset.id, descending=True),
    "oldest": Order(Dataset.created_at, Dataset.id),
    "name": Order(func.lower(func.coalesce(Dataset.name, "")), Dataset.id),
    "largest": Order(Dataset.n_bytes, Dataset.id, descending=True),
}


@dataclass(frozen=True)
class Wanted:
    """Which datasets a list shows, and in which of the `ORDERS`."""

    search: str | None = None
    label: tuple[str, str] | None = None
    sort: str = "newest"


@dataclass(frozen=True)
class ReadClaim(Claim):
    """A worker's right to one attempt at reading an upload."""

    leased = Dataset
    key = (Dataset.id,)
    dataset_id: str


def read(session: Reader, tenant: str, dataset_id: str) -> AnyRow | None:
    """A dataset without its columns."""
    statement = select(*LISTED).where(Dataset.id == dataset_id, Dataset.tenant == tenant)
    return session.execute(statement).one_or_none()


def lock(session: Session, tenant: str, dataset_id: str, *, shared: bool) -> AnyRow | None:
    """The same, not to be deleted (shared) or used (not shared) until the transaction ends."""
    statement = select(*LISTED).where(Dataset.id == dataset_id, Dataset.tenant == tenant)
    return session.execute(statement.with_for_update(read=shared)).one_or_none()


def read_columns(session: Reader, dataset_id: str) -> list[dict[str, Any]]:
    """The profile of every column; empty until the dataset is ready."""
    statement = select(Dataset.columns).where(Dataset.id == dataset_id)
    return session.execute(statement).scalar_one_or_none() or []


def read_profile(session: Reader, dataset_id: str) -> tuple[int, list[dict[str, Any]]]:
    """The number of rows and the profile of every column of a dataset that is ready."""
    statement = select(Dataset.n_rows, Dataset.columns).where(Dataset.id == dataset_id)
    n_rows, columns = session.execute(statement).one()
    return n_rows, columns


def read_sha256(session: Reader, tenant: str, dataset_id: str) -> str:
    """The hash of the upload."""
    statement = select(Dataset.sha256).where(Dataset.id == dataset_id, Dataset.tenant == tenant)
    return session.execute(statement).scalar_one()


def exists(session: Reader, dataset_id: str) -> bool:
    """Whether there is such a dataset, in any tenant."""
    return session.execute(select(Dataset.id).where(Dataset.id == dataset_id)).first() is not None


def find_by_content(session: Session, tenant: str, content_key: str) -> AnyRow | None:
    """The dataset of the same bytes, read in the same way."""
    statement = select(*LISTED)
    statement = statement.where(Dataset.tenant == tenant, Dataset.content_key == content_key)
    return session.execute(statement).one_or_none()


def measure(session: Reader, tenant: str) -> tuple[int, int]:
    """How many datasets a tenant has, and how many bytes were uploaded for them."""
    statement = select(func.count(), func.coalesce(func.sum(Dataset.n_bytes), 0))
    n_datasets, n_bytes = session.execute(statement.where(Dataset.tenant == tenant)).one()
    return n_datasets, int(n_bytes)


def list_datasets(
    session: Reader, tenant: str, wanted: Wanted, after: Position | None, limit: int
) -> list[dict[str, Any]]:
    """Some rows after a position, each with its `sort_key`."""
    statement = select(*LISTED).where(Dataset.tenant == tenant)
    if wanted.search is not None:
        statement = statement.where(Dataset.name.icontains(wanted.search, autoescape=True))
    if wanted.label is not None:
        key, value = wanted.label
        statement = statement.where(Dataset.labels[key].as_string() == value)
    page = ORDERS[wanted.sort].page(statement, after, limit)
    return [dict(row._mapping) for row in session.execute(page)]


def add(session: Session, dataset: Dataset) -> AnyRow:
    """Insert a dataset."""
    session.add(dataset)
    session.flush()
    return session.execute(select(*LISTED).where(Dataset.id == dataset.id)).one()


def remove(session: Session, tenant: str, dataset_id: str) -> bool:
    """Delete the row; False when there is none."""
    statement = delete(Dataset).where(Dataset.id == dataset_id, Dataset.tenant == tenant)
    removed = session.execute(statement.returning(Dataset.id), execution_options=NO_SYNC)
    return removed.one_or_none() is not None


def change(
    session: Session, guard: Sequence[ColumnElement[bool]], values: Mapping[str, Any]
) -> AnyRow | None:
    """One conditional UPDATE; None when the guard does not hold."""
    return leases.change(session, Dataset, guard, values, LISTED)


def reopen(session: Session, dataset_id: str) -> AnyRow | None:
    """A rejected dataset waits for a reader as if it were new; None when it is not rejected."""
    guard = [Dataset.id == dataset_id, Dataset.status == DatasetStatus.REJECTED]
    waiting = leases.freed(Dataset)
    forgotten = {"attempt": 0, "reason": None, "finished_at": None}
    return change(session, guard, {**waiting, **forgotten, "enqueued_at": waiting["available_at"]})


def find_old(session: Session, cutoff: datetime, after: str) -> Sequence[AnyRow]:
    """Datasets read before `cutoff`, by id from `after` on, some at a time."""
    statement = select(Dataset.id, Dataset.tenant).where(
        Dataset.status != DatasetStatus.PROCESSING,
        Dataset.finished_at < cutoff,
        Dataset.id > after,
    )
    return session.execute(statement.order_by(Dataset.id).limit(SWEEP_LIMIT)).all()
