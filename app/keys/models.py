"""The table of API keys."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base
from app.db.text import Line


class ApiKey(Base):
    """One key; only a keyed hash of it is kept.

    `slot` is of versions that allowed two keys; a later migration can drop it.
    """

    __tablename__ = "api_keys"
    __table_args__ = (UniqueConstraint("tenant", "slot"),)

    id: Mapped[str] = mapped_column(Line(40), primary_key=True)
    tenant: Mapped[str] = mapped_column(Line(64))
    name: Mapped[str] = mapped_column(Line(255))
    digest: Mapped[str] = mapped_column(Line(64))
    scopes: Mapped[list[Any]]
    slot: Mapped[int | None]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
