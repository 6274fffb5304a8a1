"""Leases: one worker at a time works on a row, and another when that one falls silent.

    waiting --claim--> held --end--> final
       ^                | renewed every few seconds
       +-- hand back ---+   the worker was told to stop; no attempt is charged
       +---- recover ---+   the lease is over; after a back-off, and not after the last attempt

An upload to be read, a job and a unit of a job are leased alike. Every arrow is one UPDATE, by
`change`, on the conditions and with the values made here; the room that owns the row adds its own
and what else belongs into the transaction. What is leased, a room says with the statuses of its
table, a kind of `Claim`, and how `recover` is to take a row back.

A message only wakes a worker, and may get lost or come twice: `ring_again` looks for rows that wait
though the bell was rung for them long ago.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypeVar

import structlog
from sqlalchemy import ColumnElement, Select, SQLColumnExpression, func, or_, select, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Mapped, Session, aliased, declared_attr, mapped_column

from app.broker import Bell, Call
from app.db.base import NO_SYNC, SWEEP_LIMIT, AnyRow
from app.db.clock import AT_ONCE, moment
from app.db.text import Line
from app.settings import Settings

log = structlog.get_logger(__name__)

Conditions = Sequence[ColumnElement[bool]]
Values = dict[str, Any]
LONGEST_WAIT = timedelta(hours=4)
MOST_DOUBLINGS = 30
# Nobody holds the row any more.
RELEASED: Mapping[str, None] = {"owner": None, "lease_until": None}


class Leased:
    """The columns of a row that is leased: how often, by whom, until when, not before when.

    `owner` is new with every claim, so that a worker which was taken for dead recognises nothing as
    its own.
    """

    WAITING: ClassVar[str]
    HELD: ClassVar[str]

    attempt: Mapped[int] = mapped_column(default=0)
    owner: Mapped[str | None] = mapped_column(Line(64))
    lease_until: Mapped[datetime | None]
    available_at: Mapped[datetime]

    @declared_attr
    @classmethod
    def status(cls) -> Mapped[str]:
        """A new row waits."""
        return mapped_column(Line(16), default=cls.WAITING)


class Rung(Leased):
    """A row that workers are rung for; `enqueued_at` is when the bell last was."""

    enqueued_at: Mapped[datetime]


@dataclass(frozen=True)
class Claim:
    """A worker's right to one attempt at one row of `leased`: what must still stand in it.

    Every kind of claim adds the fields that name the row, and their columns as `key`. By the
    columns of `seen` it is decided what becomes of a row whose worker fell silent.
    """

    leased: ClassVar[type[Leased]]
    key: ClassVar[Sequence[Any]]
    seen: ClassVar[Sequence[Any]] = ()
    owner: str
    attempt: int

    @classmethod
    def columns(cls) -> list[Any]:
        """The columns of the fields, in their order."""
        return [cls.leased.owner, cls.leased.attempt, *cls.key]

    def holds(self) -> list[ColumnElement[bool]]:
        """True in the database while nobody took the row away."""
        stands = zip(self.columns(), astuple(self), strict=True)
        is_held = self.leased.status == self.leased.HELD
        return [is_held, *(column == value for column, value in stands)]

    def lapsed(self) -> list[ColumnElement[bool]]:
        """The same, and its lease is over; the owner may have renewed it since it was read."""
        return [*self.holds(), _is_over(self.leased)]


C = TypeVar("C", bound=Claim)


def change(
    session: Session,
    leased: type[Leased],
    guard: Iterable[ColumnElement[bool]],
    values: Mapping[str, Any],
    returning: Sequence[Any],
) -> AnyRow | None:
    """One conditional UPDATE: the row as it is then, or None if `guard`, which names it, fails."""
    statement = update(leased).where(*guard).values(values).returning(*returning)
    return session.execute(statement, execution_options=NO_SYNC).one_or_none()


def is_free(leased: type[Leased]) -> list[ColumnElement[bool]]:
    """Nobody holds the row, and its time has come."""
    waits = (leased.status == leased.WAITING, leased.owner.is_(None))
    return [*waits, leased.available_at <= moment()]


def claimed(leased: type[Leased], owner: str, lease: timedelta) -> Values:
    """What a claim writes."""
    values = {"status": leased.HELD, "owner": owner, "attempt": leased.attempt + 1}
    return {**values, **renewed(lease)}


def renewed(lease: timedelta) -> Values:
    """What a sign of life writes."""
    return {"lease_until": moment(lease)}


def freed(leased: type[Leased], wait: timedelta = AT_ONCE) -> Values:
    """What makes a row wait for another worker, not before `wait` is over."""
    return {**RELEASED, "status": leased.WAITING, "available_at": moment(wait)}


def handed_back(leased: type[Leased], wait: timedelta = AT_ONCE) -> Values:
    """The same by the worker's own will, which costs no attempt; without a wait it rings itself."""
    values = freed(leased, wait)
    return {**values, "attempt": leased.attempt - 1, "enqueued_at": values["available_at"]}


def back_off(attempt: int, settings: Settings) -> timedelta:
    """The wait after `attempt` was lost: doubled each time, hours at most."""
    doublings = min(max(0, attempt - 1), MOST_DOUBLINGS)
    return min(timedelta(seconds=settings.backoff_seconds * 2**doublings), LONGEST_WAIT)


def least_served(table: type[Any]) -> ColumnElement[Any]:
    """To order rows by: those of the tenant for which the fewest are held at this moment first."""
    other = aliased(table)
    held = select(func.count()).where(other.tenant == table.tenant, other.owner.is_not(None))
    return held.scalar_subquery()


def recover(
    session: Session,
    kind: type[C],
    take_back: Callable[[Session, C, AnyRow, Settings], object],
    settings: Settings,
) -> None:
    """Take rows from workers that fell silent, each in a transaction of its own.

    Two sweepers that locked several rows could wait for each other, and a row that cannot be taken
    back would keep all behind it from being so.
    """
    with session.begin():
        silent = find_silent(session, kind)
    for claim, row in silent:
        log.warning("lease expired", **asdict(claim))
        with apart("lease", but=OperationalError), session.begin():
            take_back(session, claim, row, settings)


@contextmanager
def apart(part: str, but: type[Exception] | tuple[()] = ()) -> Iterator[None]:
    """What goes wrong within ends this part of a round alone, which comes again; `but` ends more.

    A database that is away is so for the next row too.
    """
    try:
        yield
    except but:
        raise
    except Exception as error:  # a sweeper that ends would leave every lost job lost
        log.warning("sweep failed", part=part, error=str(error))


def find_silent(session: Session, kind: type[C]) -> list[tuple[C, AnyRow]]:
    """Claims whose lease is over, longest silent first, with what was seen beside them."""
    columns, leased = kind.columns(), kind.leased
    statement = select(*columns, *kind.seen).where(leased.status == leased.HELD, _is_over(leased))
    statement = statement.order_by(leased.lease_until, *kind.key)
    rows = session.execute(statement.limit(SWEEP_LIMIT)).all()
    return [(kind(*row[: len(columns)]), row) for row in rows]


def _is_over(leased: type[Leased]) -> ColumnElement[bool]:
    return leased.lease_until <= moment()


@dataclass(frozen=True)
class Waiting:
    """Rows of `table`, which has an id, that wait for a worker: on which conditions, since when."""

    table: type[Any]
    call: Call
    conditions: Conditions
    since: SQLColumnExpression[datetime]


def ring_again(session: Session, bell: Bell, waiting: Waiting, settings: Settings) -> None:
    """Ring for what waits unheard: rung for long ago, or before its back-off was over."""
    patience = bell.patience(waiting.call.queue, settings.resend_seconds)
    with session.begin():
        unheard = _take_unheard(session, waiting, patience)
    for identifier in unheard:
        bell.ring(waiting.call, identifier)


def _take_unheard(session: Session, waiting: Waiting, patience: timedelta) -> Sequence[str]:
    table, rung = waiting.table, waiting.table.enqueued_at
    unheard = [*waiting.conditions, or_(rung <= moment(-patience), rung < waiting.since)]
    return take_rung(session, table, select(table.id).where(*unheard).order_by(rung), SWEEP_LIMIT)


def take_rung(session: Session, table: type[Any], wanted: Select[str], limit: int) -> Sequence[str]:
    """Note that the bell is rung now for the first of these ids, so that of several one rings.

    Rows that another holds are left to the next round: who waits for none can block nobody.
    """
    some = wanted.limit(limit).with_for_update(skip_locked=True, of=table)
    ids = session.execute(some).scalars().all()
    rung = update(table).where(table.id.in_(ids)).values(enqueued_at=moment())
    session.execute(rung, execution_options=NO_SYNC)
    return ids
