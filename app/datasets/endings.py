"""The end of reading an upload, whoever brings it about: a worker or the sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement
from sqlalchemy.orm import Session

from app.datasets import repository
from app.datasets.models import DatasetStatus
from app.db.base import AnyRow
from app.db.clock import moment
from app.leases import RELEASED
from app.webhooks.events import News
from app.webhooks.outbox import announce

TOLD = ("id", "status", "name", "n_bytes", "n_rows", "n_columns", "sha256", "reason")


def conclude(
    session: Session,
    guard: Sequence[ColumnElement[bool]],
    status: DatasetStatus,
    values: Mapping[str, Any],
) -> bool:
    """It has been read, or never will be, if `guard` holds, which names one claim on it."""
    final = {**RELEASED, "status": status, "finished_at": moment()}
    row = repository.change(session, guard, {**final, **values})
    if row is not None:
        announce(session, _news_of(row))
    return row is not None


def _news_of(row: AnyRow) -> News:
    here = "/v1/datasets"
    told = {name: row._mapping[name] for name in TOLD}
    return News(
        tenant=row.tenant,
        kind=f"dataset.{row.status}",
        source=here,
        subject=row.id,
        time=row.finished_at,
        data={**told, "links": {"self": f"{here}/{row.id}"}},
    )
