"""What the API answers: datasets, jobs, events, lists."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    computed_field,
)

from app.datasets.models import DatasetStatus
from app.jobs.specification import Specification
from app.jobs.state import Status
from core.results import Phase

JOB_EXAMPLE = "job_0123456789abcdef0123456789abcdef"
DATASET_EXAMPLE = "ds_0123456789abcdef0123456789abcdef"


class Answer(BaseModel):
    """Read from rows of the database."""

    model_config = ConfigDict(from_attributes=True)


class ColumnProfile(Answer):
    """What reading found in one column."""

    name: str
    kind: Literal["integer", "number", "boolean", "text"]
    levels: int = Field(description="Distinct values, missing ones aside.")
    missing: int = Field(description="Rows without a value.")
    infinite: int = Field(description="Infinite values; a job that uses the column is refused.")
    min: float | None = Field(description="Smallest finite value; null for text.")
    max: float | None = Field(description="Largest finite value; null for text.")
    values: list[str] | None = Field(None, description="Most frequent values; null for numbers.")
    counts: list[int] = Field(
        [], description="Of each of `values`, or of bins of equal width from `min` to `max`."
    )


class DatasetSummary(Answer):
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

    columns: list[ColumnProfile] = []


class DatasetPage(BaseModel):
    """One page of datasets, newest first."""

    items: list[DatasetSummary]
    next_page_token: str | None


class JobCreate(Specification):
    """A job to be submitted."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"dataset_id": DATASET_EXAMPLE, "target": "label", "k": 10},
                {
                    "dataset_id": DATASET_EXAMPLE,
                    "target": "label",
                    "k": 20,
                    "compare": {"methods": [{"name": "gsm_cpd"}, {"name": "mrmr"}]},
                    "stability": {"n_samples": 50},
                },
            ]
        }
    )


class JobError(Answer):
    """Why a job failed or expired."""

    code: str = Field(examples=["worker_lost"])
    message: str
    retryable: bool = Field(description="Whether submitting it again can help.")


class JobLinks(BaseModel):
    """Where the rest is."""

    self: str
    events: str
    result: str
    factors: str
    cancel: str


class UnitCount(BaseModel):
    """How far a job has come that all workers share."""

    total: int
    done: int


class JobRead(Answer):
    """The polled resource."""

    id: str = Field(examples=[JOB_EXAMPLE])
    status: Status
    dataset_id: str
    phase: Phase | None
    progress: float = Field(ge=0, le=1)
    loglik: float | None = Field(description="Newest mean log-likelihood of the fit.")
    chosen: list[str] = Field(description="Features chosen so far, in order.")
    attempts: int = Field(validation_alias=AliasChoices("attempt", "attempts"))
    error: JobError | None
    labels: dict[str, str]
    phase_seconds: dict[str, float] = Field(description="Time spent in each phase, at the end.")
    n_units: int = Field(default=0, exclude=True)
    n_units_done: int = Field(default=0, exclude=True)
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    cancel_requested_at: datetime | None
    deadline_at: datetime
    specification: dict[str, Any] = Field(description="The completed specification.")

    @computed_field(  # type: ignore[prop-decorator]
        description="Of a job with `compare` or `stability`; null when one worker does it alone."
    )
    @property
    def units(self) -> UnitCount | None:
        """How many parts it has, and how many are done."""
        if self.n_units == 0:
            return None
        return UnitCount(total=self.n_units, done=self.n_units_done)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def links(self) -> JobLinks:
        """Where the rest is."""
        here = f"/v1/jobs/{self.id}"
        rest = {part: f"{here}/{part}" for part in ("events", "result", "factors", "cancel")}
        return JobLinks(self=here, **rest)


class JobPage(BaseModel):
    """One page of jobs, newest first."""

    items: list[JobRead]
    next_page_token: str | None


class EventRead(Answer):
    """Something that happened to a job."""

    seq: int = Field(description="From 1, without gaps; the id of the server-sent event.")
    at: datetime
    kind: str = Field(examples=["selected"])
    data: dict[str, Any]


class EventPage(BaseModel):
    """Events in order; ask again with the token to get what came after."""

    items: list[EventRead]
    next_page_token: str | None


class MethodRead(BaseModel):
    """One method."""

    name: str
    summary: str
    fits_model: bool = Field(description="Whether there are factors to download.")
    parameters: dict[str, Any] = Field(description="JSON schema, with defaults and limits.")


class MethodList(BaseModel):
    """Every method."""

    methods: list[MethodRead]
