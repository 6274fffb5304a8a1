"""The tables of datasets, and of uploads that are under way."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base
from app.db.text import Line, Words
from app.leases import Rung


class DatasetStatus(StrEnum):
    """Where a dataset stands; `rejected` is final until the same file is uploaded again."""

    PROCESSING = "processing"
    READY = "ready"
    REJECTED = "rejected"


class Dataset(Rung, Base):
    """An upload and what reading it found.

    It is `processing` also while nobody reads it: `owner` tells whether somebody does.
    `content_key` stands for the bytes and how they are to be read: one dataset for each in a
    tenant. `columns` holds the profile of every column. Of data by reference `source` is what was
    asked for, and `origin` what was read for it. One of `version` above 1
    has the bytes of `previous_id`, which may be gone, and other wishes for its columns.
    """

    WAITING = HELD = DatasetStatus.PROCESSING
    __tablename__ = "datasets"
    __table_args__ = (
        UniqueConstraint("tenant", "content_key"),
        Index(None, "tenant", "created_at", "id"),
        Index(None, "status", "available_at"),
    )

    id: Mapped[str] = mapped_column(Line(40), primary_key=True)
    tenant: Mapped[str] = mapped_column(Line(64))
    name: Mapped[str | None] = mapped_column(Line(255))
    format: Mapped[str] = mapped_column(Line(16))
    options: Mapped[dict[str, Any]]
    content_key: Mapped[str] = mapped_column(Line(64))
    sha256: Mapped[str] = mapped_column(Line(64))
    n_bytes: Mapped[int] = mapped_column(BigInteger)
    n_rows: Mapped[int | None] = mapped_column(BigInteger)
    n_columns: Mapped[int | None]
    columns: Mapped[list[Any] | None] = mapped_column(deferred=True)
    reason: Mapped[str | None] = mapped_column(Words)
    source: Mapped[dict[str, Any] | None]
    origin: Mapped[dict[str, Any] | None]
    progress: Mapped[float | None]
    version: Mapped[int] = mapped_column(default=1, server_default="1")
    previous_id: Mapped[str | None] = mapped_column(Line(40))
    labels: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")
    submitted_by: Mapped[dict[str, Any] | None]
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]


class UploadReservation(Base):
    """Room that is kept `until` then for an upload under way; its id becomes the dataset's."""

    __tablename__ = "upload_reservations"
    __table_args__ = (Index(None, "tenant"),)

    id: Mapped[str] = mapped_column(Line(40), primary_key=True)
    tenant: Mapped[str] = mapped_column(Line(64))
    n_bytes: Mapped[int] = mapped_column(BigInteger)
    until: Mapped[datetime]
