"""How fast workers are: what the last one that measured itself found, for all to read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.db.base import Base, Reader
from app.db.clock import moment
from core.cost.work import KINDS, Speed

NEWEST = 1


class WorkerSpeed(Base):
    """One row, of the worker that measured itself last: nanoseconds for each kind of work."""

    __tablename__ = "worker_speed"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    nanoseconds: Mapped[dict[str, Any]]
    n_threads: Mapped[int]
    measured_at: Mapped[datetime]


def keep(session: Session, speed: Speed) -> None:
    """Take the place of what was measured before."""
    dialect: Any = {"postgresql": postgresql, "sqlite": sqlite}[session.get_bind().dialect.name]
    values = {"nanoseconds": dict(speed.nanoseconds), "n_threads": speed.n_threads}
    values["measured_at"] = moment()
    statement = dialect.insert(WorkerSpeed).values(id=NEWEST, **values)
    with session.begin():
        session.execute(statement.on_conflict_do_update(index_elements=["id"], set_=values))


def newest(session: Reader) -> Speed | None:
    """What was measured last; None before, and where an engine measured other kinds of work."""
    row = session.execute(select(WorkerSpeed.nanoseconds, WorkerSpeed.n_threads)).first()
    if row is None or not _is_whole(row.nanoseconds):
        return None
    return Speed(row.nanoseconds, row.n_threads)


def _is_whole(nanoseconds: Mapping[str, float]) -> bool:
    return set(nanoseconds) == set(KINDS)
