"""Whose job is next: that of the tenant with the least work under way for its share.

Of two that have as much, the one that was served longer ago: with a single worker, tenants take
turns. Within a tenant the priority decides, then who came first. A message says only that there is
something to do: what is done is decided here, when a worker is free to do it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import (
    ColumnElement,
    Double,
    Subquery,
    and_,
    case,
    cast,
    func,
    literal,
    or_,
    select,
    union_all,
)
from sqlalchemy.orm import Session

from app.broker import Bell
from app.db.base import AnyRow, Reader, Utc
from app.db.clock import moment
from app.jobs import claims
from app.jobs.models import Job, Unit
from app.jobs.runs import ring
from app.jobs.state import Status
from app.jobs.units import repository as units

Shares = Mapping[str, float]

# What was longer ago makes no difference.
LATELY = timedelta(hours=1)


def find_next(session: Reader, max_running: int, shares: Shares) -> AnyRow | None:
    """The job that is next, and how many units it has; None when none is to be had."""
    held, lately = _held(), _lately()
    load = cast(func.coalesce(held.c.n, 0), Double) / _share(shares)
    served = func.coalesce(lately.c.at, claims.LONG_AGO, type_=Utc())
    statement = select(Job.id, Job.n_units).where(_is_to_be_had(max_running))
    statement = statement.outerjoin(held, held.c.tenant == Job.tenant)
    statement = statement.outerjoin(lately, lately.c.tenant == Job.tenant)
    ordered = statement.order_by(load, served, Job.priority.desc(), Job.created_at, Job.id)
    return session.execute(ordered.limit(1)).one_or_none()


def _held() -> Subquery:
    """How many jobs and units of each tenant are under way."""
    whole = select(Job.tenant).where(Job.status == Status.RUNNING, Job.n_units == 0)
    in_parts = select(Unit.tenant).where(Unit.status == Status.RUNNING)
    busy = union_all(whole, in_parts).subquery()
    return select(busy.c.tenant, func.count().label("n")).group_by(busy.c.tenant).subquery()


def _lately() -> Subquery:
    """When each tenant last got a worker, for a job or for a unit of one, if that was lately."""
    begun = select(Job.tenant, Job.started_at.label("at")).where(Job.started_at > moment(-LATELY))
    parts = (Job.status == Status.RUNNING, Job.n_units > 0)
    continued = select(Job.tenant, Job.enqueued_at.label("at")).where(*parts)
    turns = union_all(begun, continued).subquery()
    return (
        select(turns.c.tenant, func.max(turns.c.at).label("at")).group_by(turns.c.tenant).subquery()
    )


def _share(shares: Shares) -> ColumnElement[float]:
    """One, unless an operator gave the tenant another."""
    one = literal(1.0, Double)
    if not shares:
        return one
    return case(
        {name: literal(share, Double) for name, share in shares.items()},
        value=Job.tenant,
        else_=one,
    )


def _is_to_be_had(max_running: int) -> ColumnElement[bool]:
    whole = [Job.status == Status.QUEUED, *claims.is_claimable(max_running)]
    return or_(and_(*whole), and_(*units.waiting(max_running).conditions))


def pass_on(session: Session, bell: Bell, job_id: str, max_running: int) -> None:
    """A message for one job is spent on another: ring for the one it named, if it can go now.

    If it waits for its tenant's limit, whoever ends a job of the tenant rings.
    """
    mine = Job.id == job_id
    with session.begin():
        found = select(Job.id, Job.n_units).where(mine, _is_to_be_had(max_running))
        waiting = session.execute(found).one_or_none()
        if waiting is None:
            claims.hold_up(session, job_id)
    if waiting is not None:
        ring(bell, waiting)
