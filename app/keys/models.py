"""The table of API keys."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base


class ApiKey(Base):
    """One key; only a keyed hash of it is kept.

    A live key holds one of its tenant's slots: the constraint allows no more keys than slots,
    whoever creates them at the same time. Revoked and expired keys give theirs back.
    """

    __tablename__ = "api_keys"
    __table_args__ = (UniqueConstraint("tenant", "slot"),)

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    tenant: Mapped[str] = mapped_column(String(64))
    name: Mapped[str] = mapped_column(String(255))
    digest: Mapped[str] = mapped_column(String(64))
    scopes: Mapped[list[Any]]
    slot: Mapped[int | None]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
