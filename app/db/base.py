"""What every table shares: names of constraints, the type of times, JSON."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any, ClassVar

from sqlalchemy import JSON, Connection, DateTime, Dialect, MetaData, Row, TypeDecorator
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Session

AnyRow = Row[*tuple[Any, ...]]
# Reading needs no unit of work, and without one takes half the time.
Reader = Session | Connection
# For statements that change rows: no session of ours holds objects that would have to follow.
NO_SYNC = {"synchronize_session": False}
# So many rows are swept by one statement.
SWEEP_LIMIT = 500

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

DOCUMENT = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


class Utc(TypeDecorator[datetime]):
    """Aware times in UTC, also where the database keeps none (SQLite)."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse naive times, which would be read as UTC later."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone cannot be stored")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """SQLite gives back what it was given, without the zone."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """The registry of all tables."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: Utc,
        dict[str, Any]: DOCUMENT,
        list[Any]: DOCUMENT,
    }


def new_id(prefix: str) -> str:
    """An id that cannot be guessed: 128 random bits."""
    return f"{prefix}_{secrets.token_hex(16)}"
