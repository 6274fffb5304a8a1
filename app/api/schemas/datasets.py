"""Datasets as callers see them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

from app.api.schemas.base import DATASET_EXAMPLE, VISIBLE, ActorRead, FromRow
from app.datasets.models import DatasetStatus
from app.jobs.methods import Strict
from app.jobs.specification import Labels, Name, Title
from app.references.source import Source
from core.results.selection import TableWarning


class ColumnReading(FromRow):
    """How the texts of a column were understood."""

    kind: Literal["number", "category", "boolean", "time"]
    decimal: str = Field(description="The sign before decimals.")
    thousands: str | None = Field(description="The sign between thousands, if there is one.")
    unit: str | None = Field(description="The currency, or %: 5 % is 0.05.")
    order: str | None = Field(description="In which order dates have day, month and year.")
    offset: int = Field(description="The distance from UTC at which times are told, in minutes.")


class DatasetCreate(Strict):
    """Data where it lies, instead of a file."""

    source: Source
    name: Annotated[str | None, Field(max_length=255, pattern=VISIBLE)] = None


class SchemaColumn(BaseModel):
    """A column by name and kind; reading may find more in text than that it is text."""

    name: str
    kind: Literal["integer", "number", "boolean", "text", "time"]


class SchemaRead(BaseModel):
    """What a source holds, before its rows are read."""

    columns: list[SchemaColumn]
    n_objects: int | None = Field(None, description="Files; the first tells the columns.")
    n_bytes: int | None = Field(None, description="Of all files.")
    n_rows: int | None = Field(None, description="Of a table, as its metadata tell.")
    snapshot: dict[str, Any] | None = Field(None, description="Of a table.")


class ColumnProfile(FromRow):
    """What reading found in one column."""

    name: str
    kind: Literal["integer", "number", "boolean", "text", "time"]
    levels: int = Field(description="Distinct values, missing ones aside.")
    missing: int = Field(description="Rows without a value.")
    infinite: int = Field(description="Infinite values; a job takes them as missing.")
    min: float | None = Field(
        description="Smallest finite value, of times in seconds since 1970; null for text."
    )
    max: float | None = Field(description="Largest finite value, likewise.")
    values: list[str] | None = Field(None, description="Most frequent values; null for numbers.")
    counts: list[int] = Field(
        [], description="Of each of `values`, or of bins of equal width from `min` to `max`."
    )
    notes: list[str] = Field([], description="What is worth knowing before a job uses it.")
    detected: Literal["number", "category", "boolean", "time"] | None = Field(
        None, description="What its values look like; null if an older version read it."
    )
    chosen: bool = Field(False, description="Whether somebody said what it is.")
    why: str | None = Field(None, description="What made it so, in a sentence.")
    reading: ColumnReading | None = Field(
        None, description="How its texts were understood; null where nothing was to be."
    )
    unfit: int = Field(0, description="Values that could not be understood and are missing now.")
    unfit_values: list[str] = Field([], description="The most frequent of those, as written.")
    examples: list[str] = Field([], description="Some values as they are written in the file.")
    parts: list[Literal["elapsed", "hour", "weekday", "month"]] = Field(
        [], description="Of a time, the numbers that are searched: each is called `column · part`."
    )


class DatasetSummary(FromRow):
    """An upload and how far reading it has come."""

    id: str = Field(examples=[DATASET_EXAMPLE])
    status: DatasetStatus
    name: str | None
    format: Literal["csv", "parquet", "arrow_stream", "arrow_file", "reference"]
    sha256: str = Field(
        description="Of the bytes; by reference of the typed columns, once they are read."
    )
    n_bytes: int
    n_rows: int | None
    n_columns: int | None
    reason: str | None = Field(description="Why it was rejected.")
    source: Source | None = Field(description="What it refers to, if it was not uploaded.")
    progress: float | None = Field(description="How far reading a reference has come.")
    version: int = Field(1, description="Above 1 where columns were read again in another way.")
    previous_id: str | None = Field(None, description="The version before it.")
    labels: dict[str, str] = Field({})
    submitted_by: ActorRead | None = Field(None, description="Null before there was an audit.")
    created_at: datetime
    finished_at: datetime | None


class DatasetRead(DatasetSummary):
    """An upload with the profile of every column, once it is ready."""

    columns: list[ColumnProfile] = Field([])
    origin: dict[str, Any] | None = Field(
        None,
        description="What was read by reference, for ever: objects with their tags and sizes, the "
        "snapshot of a table, the text of a query, and when.",
    )
    ignored: list[str] = Field([], description="Columns of the file that somebody had left out.")
    warnings: list[TableWarning] = Field(
        [], description="What the profile tells about trouble ahead, whatever the target."
    )


class DatasetPatch(Strict):
    """What can be changed about a dataset at any time."""

    name: Title | None = None
    labels: Labels = Field(default={})


Sign = Literal[".", ","]


class ColumnWish(Strict):
    """What a column is; signs that are left out are found out."""

    kind: Literal["number", "category", "boolean", "time", "ignore"]
    decimal: Sign | None = Field(None, description="Before decimals.")
    thousands: Literal[".", ",", " ", "'", ""] | None = Field(
        None, description="Between thousands; empty for none."
    )

    @model_validator(mode="after")
    def _signs_differ(self) -> Self:
        if self.decimal is not None and self.decimal == self.thousands:
            raise ValueError("the sign before decimals and the one between thousands are the same")
        return self


class ColumnsPatch(Strict):
    """Columns that are to be read in another way; null leaves it to detection again."""

    columns: Annotated[dict[Name, ColumnWish | None], Field(min_length=1, max_length=1000)]


class PreviewCell(BaseModel):
    """A value as it is written, and what it would be; null is missing."""

    written: str
    read: str | None


class ColumnPreview(BaseModel):
    """What would come of a column, from a sample of its rows."""

    name: str
    kind: Literal["number", "category", "boolean", "time", "ignore"]
    why: str
    n_looked_at: int = Field(description="Rows of the sample that have a value.")
    n_fit: int = Field(description="Of those, how many would have one still.")
    cells: list[PreviewCell] = Field(description="Some values, those that do not fit first.")


class ColumnsPreview(BaseModel):
    """What would come; nothing was changed."""

    columns: list[ColumnPreview]


class TargetWarnings(BaseModel):
    """What a sample of the rows tells about trouble ahead."""

    n_rows: int = Field(description="How many rows were looked at.")
    warnings: list[TableWarning]


class DatasetPage(BaseModel):
    """One page of datasets, newest first."""

    items: list[DatasetSummary]
    next_page_token: str | None
