"""All SQL about keys. Nothing here begins or commits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from app.db.base import NO_SYNC, AnyRow, Reader
from app.db.clock import moment
from app.keys.models import ApiKey

SHOWN = tuple(c for c in ApiKey.__table__.columns if c.name not in {"digest", "slot"})
# By which a key is live or over.
NOW = moment().label("now")


def read_key(session: Reader, key_id: str) -> AnyRow | None:
    """A key with its hash."""
    statement = select(*ApiKey.__table__.columns, NOW).where(ApiKey.id == key_id)
    return session.execute(statement).one_or_none()


def list_keys(session: Reader, tenant: str | None) -> Sequence[AnyRow]:
    """The keys of one tenant or of all, oldest first, without their hashes."""
    statement = select(*SHOWN, NOW).order_by(ApiKey.tenant, ApiKey.created_at)
    if tenant is not None:
        statement = statement.where(ApiKey.tenant == tenant)
    return session.execute(statement).all()


def add_key(session: Session, key: ApiKey) -> AnyRow:
    """Insert a key."""
    session.add(key)
    session.flush()
    return session.execute(select(*SHOWN, NOW).where(ApiKey.id == key.id)).one()


def revoke(session: Session, key_id: str) -> AnyRow | None:
    """End a key's life, once; None when there is no such key or it has ended."""
    statement = (
        update(ApiKey)
        .where(ApiKey.id == key_id, ApiKey.revoked_at.is_(None))
        .values(revoked_at=moment())
        .returning(*SHOWN, NOW)
    )
    return session.execute(statement, execution_options=NO_SYNC).one_or_none()


def note_use(session: Session, key_id: str, lately: timedelta) -> None:
    """Write when a key was used, unless that was written lately."""
    known = or_(ApiKey.last_used_at.is_(None), ApiKey.last_used_at < moment(-lately))
    statement = update(ApiKey).where(ApiKey.id == key_id, known).values(last_used_at=moment())
    session.execute(statement, execution_options=NO_SYNC)
