"""What workers do with uploads. Every transaction is visible here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from app import leases
from app.broker import READ_DATASET, Bell
from app.datasets import repository
from app.datasets.endings import conclude
from app.datasets.faults import printable
from app.datasets.models import Dataset, DatasetStatus
from app.datasets.repository import ReadClaim
from app.db.base import AnyRow
from app.leases import Waiting


def claim(
    session: Session, dataset_id: str, owner: str, lease: timedelta
) -> tuple[ReadClaim, AnyRow] | None:
    """Take an upload to read it; None when it is not to be had."""
    guard = [Dataset.id == dataset_id, *leases.is_free(Dataset)]
    with session.begin():
        row = repository.change(session, guard, leases.claimed(Dataset, owner, lease))
    return None if row is None else (ReadClaim(owner, row.attempt, row.id), row)


def renew(
    session: Session, claimed: ReadClaim, lease: timedelta, progress: float | None = None
) -> bool:
    """Prolong the lease; False when the dataset was taken away."""
    news = {**leases.renewed(lease), "progress": progress}
    with session.begin():
        return repository.change(session, claimed.holds(), news) is not None


def accept(session: Session, claimed: ReadClaim, outcome: Mapping[str, Any]) -> bool:
    """The dataset is ready, if the claim still holds; of a reference it is known now what it is."""
    found = {**outcome, "n_columns": len(outcome["columns"])}
    with session.begin():
        return conclude(session, claimed.holds(), DatasetStatus.READY, found)


def reject(session: Session, claimed: ReadClaim, reason: str) -> bool:
    """The dataset cannot be used, if the claim still holds."""
    found = {"reason": printable(reason)}
    with session.begin():
        return conclude(session, claimed.holds(), DatasetStatus.REJECTED, found)


def hand_back(session: Session, bell: Bell, claimed: ReadClaim) -> None:
    """Let another worker read it, without charging the attempt."""
    with session.begin():
        repository.change(session, claimed.holds(), leases.handed_back(Dataset))
    bell.ring(READ_DATASET, claimed.dataset_id)


def put_off(session: Session, claimed: ReadClaim, wait: timedelta) -> None:
    """Have it read again after `wait`: what failed was not the file."""
    with session.begin():
        repository.change(session, claimed.holds(), leases.freed(Dataset, wait))


def is_gone(session: Session, dataset_id: str) -> bool:
    """Whether the dataset was deleted."""
    with session.begin():
        return not repository.exists(session, dataset_id)


def waiting() -> Waiting:
    """Uploads that a worker is rung for."""
    return Waiting(Dataset, READ_DATASET, leases.is_free(Dataset), Dataset.available_at)
