"""Datasets as callers see them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from app.api.schemas.base import DATASET_EXAMPLE, FromRow
from app.datasets.models import DatasetStatus
from core.results import TableWarning


class ColumnProfile(FromRow):
    """What reading found in one column."""

    name: str
    kind: Literal["integer", "number", "boolean", "text"]
    levels: int = Field(description="Distinct values, missing ones aside.")
    missing: int = Field(description="Rows without a value.")
    infinite: int = Field(description="Infinite values; a job takes them as missing.")
    min: float | None = Field(description="Smallest finite value; null for text.")
    max: float | None = Field(description="Largest finite value; null for text.")
    values: list[str] | None = Field(None, description="Most frequent values; null for numbers.")
    counts: list[int] = Field(
        [], description="Of each of `values`, or of bins of equal width from `min` to `max`."
    )
    notes: list[str] = Field([], description="What is worth knowing before a job uses it.")


class DatasetSummary(FromRow):
    """An upload and how far reading it has come."""

    id: str = Field(examples=[DATASET_EXAMPLE])
    status: DatasetStatus
    name: str | None
    format: Literal["csv", "parquet", "arrow_stream", "arrow_file"]
    sha256: str
    n_bytes: int
    n_rows: int | None
    n_columns: int | None
    reason: str | None = Field(description="Why it was rejected.")
    created_at: datetime
    finished_at: datetime | None


class DatasetRead(DatasetSummary):
    """An upload with the profile of every column, once it is ready."""

    columns: list[ColumnProfile] = Field([])
    warnings: list[TableWarning] = Field(
        [], description="What the profile tells about trouble ahead, whatever the target."
    )


class DatasetPage(BaseModel):
    """One page of datasets, newest first."""

    items: list[DatasetSummary]
    next_page_token: str | None
