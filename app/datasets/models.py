"""The table of datasets."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base
from app.leases import Leased


class DatasetStatus(StrEnum):
    """Where a dataset stands; `rejected` is final until the same file is uploaded again."""

    PROCESSING = "processing"
    READY = "ready"
    REJECTED = "rejected"


class Dataset(Leased, Base):
    """An upload and what reading it found.

    It is `processing` also while nobody reads it: `owner` tells whether somebody does.
    `content_key` stands for the bytes and how they are to be read: one dataset for each in a
    tenant. `columns` holds the profile of every column.
    """

    WAITING = HELD = DatasetStatus.PROCESSING
    __tablename__ = "datasets"
    __table_args__ = (
        UniqueConstraint("tenant", "content_key"),
        Index(None, "tenant", "created_at", "id"),
        Index(None, "status", "available_at"),
    )

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    tenant: Mapped[str] = mapped_column(String(64))
    name: Mapped[str | None] = mapped_column(String(255))
    format: Mapped[str] = mapped_column(String(16))
    options: Mapped[dict[str, Any]]
    content_key: Mapped[str] = mapped_column(String(64))
    sha256: Mapped[str] = mapped_column(String(64))
    n_bytes: Mapped[int] = mapped_column(BigInteger)
    n_rows: Mapped[int | None] = mapped_column(BigInteger)
    n_columns: Mapped[int | None]
    columns: Mapped[list[Any] | None] = mapped_column(deferred=True)
    reason: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
