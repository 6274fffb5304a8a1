"""Jobs as callers write and see them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import (
    AliasChoices,
    BaseModel,
    Field,
    computed_field,
    field_validator,
    model_validator,
)

from app.api.problems import Problem
from app.api.schemas.base import JOB_EXAMPLE, ActorRead, FromRow
from app.api.schemas.estimates import JobEstimate
from app.jobs.methods import Strict
from app.jobs.specification import DatasetId, Labels, Specification, Title, with_unasked
from app.jobs.state import ExportStatus, Status
from app.references.source import Source
from core.results.selection import Phase


class JobCreate(Specification):
    """A job to be submitted: of a dataset, or of data where it lies."""

    dataset_id: DatasetId = Field(default="", description="Unless there is a `source`.")
    source: Source | None = Field(
        default=None, description="Instead of `dataset_id`: becomes a dataset, and waits for it."
    )

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if (not self.dataset_id) == (self.source is None):
            raise ValueError("name either dataset_id or source")
        return self

    def of(self, dataset_id: str) -> Specification:
        """What is asked of a dataset; only what the caller wrote counts as written."""
        written = self.model_dump(exclude_unset=True, exclude={"source"})
        return Specification.model_validate({**written, "dataset_id": dataset_id})


class JobPatch(Strict):
    """What can be changed about a job at any time."""

    title: Title | None = None
    labels: Labels = Field(default={})


class JobCheck(BaseModel):
    """What submitting the same body would be answered."""

    valid: bool
    specification: Specification | None = Field(description="Completed, if it is valid.")
    problem: Problem | None = Field(description="What it would be refused with, if it is not.")
    estimate: JobEstimate | None = Field(
        default=None,
        description="What it will take, if it is valid and its dataset has been read.",
    )


class JobError(FromRow):
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


class ExportRead(BaseModel):
    """How far the files of a result have come on their way to a destination."""

    status: ExportStatus = Field(description="`failed` is what will not be tried again.")
    connection: str
    path: str = Field(description="The folder, with its places filled.")
    data: bool = Field(description="Whether the reduced table goes too.")
    attempts: int
    n_files: int | None = Field(description="Without the manifest; null before the first attempt.")
    n_written: int = Field(description="Of them, in the newest attempt.")
    n_bytes: int
    error: str | None = Field(description="Why the newest attempt came to nothing.")
    delivered_at: datetime | None


class JobState(FromRow):
    """What a list and a poll show of a job."""

    id: str = Field(examples=[JOB_EXAMPLE])
    status: Status
    dataset_id: str
    title: str | None = None
    phase: Phase | None
    progress: float = Field(ge=0, le=1)
    attempts: int = Field(validation_alias=AliasChoices("attempt", "attempts"))
    error: JobError | None
    labels: dict[str, str]
    submitted_by: ActorRead | None = Field(None, description="Null before there was an audit.")
    n_units: int = Field(default=0, exclude=True)
    n_units_done: int = Field(default=0, exclude=True)
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    cancel_requested_at: datetime | None
    keep_requested_at: datetime | None = Field(None, description="By a cancel with `keep`.")
    partial: bool = Field(
        False,
        description="It was kept as it was when it was cancelled; see the result's `missing`.",
    )
    deadline_at: datetime

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


class JobSummary(JobState):
    """A job in a list: without its specification, which may be long."""

    target: str
    k: int | Literal["auto"]
    method: str = Field(description="By name.")
    compared: list[str] | None = Field(description="Methods of the comparison, by name.")
    chosen: list[str] = Field(description="The first few of the features chosen so far.")

    @field_validator("compared", mode="before")
    @classmethod
    def _name_methods(cls, methods: Any) -> Any:
        return methods and [method["name"] for method in methods]


class JobRead(JobState):
    """The polled resource."""

    seconds_left: float | None = Field(
        default=None,
        description="As it looked when the job last changed, while it runs; null before anything "
        "can be said.",
    )
    loglik: float | None = Field(description="Newest mean log-likelihood of the fit.")
    chosen: list[str] = Field(description="Features chosen so far, in order.")
    phase_seconds: dict[str, float] = Field(description="Time spent in each phase, at the end.")
    specification: dict[str, Any] = Field(description="The completed specification.")
    delivery: ExportRead | None = Field(
        default=None, description="Of the result, where it is to go somewhere."
    )

    @field_validator("specification", mode="before")
    @classmethod
    def _complete(cls, kept: dict[str, Any]) -> dict[str, Any]:
        return with_unasked(kept)

    @model_validator(mode="after")
    def _forget_the_rest(self) -> Self:
        if self.status != Status.RUNNING:
            self.seconds_left = None
        return self


class JobPlace(BaseModel):
    """Where a job stands in the queue; not part of the job, which does not change by it."""

    position: int | None = Field(
        ge=1, description="Among your queued jobs, from 1; null when it waits no longer."
    )


class JobPage(BaseModel):
    """One page of jobs, newest first."""

    items: list[JobSummary]
    next_page_token: str | None
