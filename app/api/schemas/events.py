"""What happened to a job, as callers see it: one schema for each kind of event."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass

from app.api.schemas.base import FromRow
from app.jobs.state import TRANSITIONS
from core.results.selection import Phase, Selected

_ENDS = {transition.event for transition in TRANSITIONS}
KINDS = sorted(
    {"queued", "cancel_requested", "keep_requested", "phase", "loglik", "selected"}
    | _ENDS
    | {f"unit_{event}" for event in _ENDS}
)


class Told(FromRow):
    """An event as it is sent; what older versions wrote is told as it was written."""

    seq: int
    at: datetime
    kind: str
    data: dict[str, Any]


class ToldPage(BaseModel):
    """A page as it is sent."""

    items: list[Told]
    next_page_token: str | None


class Happened(BaseModel):
    """What all events have."""

    seq: int = Field(description="From 1, without gaps; the id of the server-sent event.")
    at: datetime


class Nothing(BaseModel):
    """Nothing more to say."""

    model_config = ConfigDict(extra="forbid")


class AttemptLost(BaseModel):
    """Which attempt it was, if one was under way."""

    attempt: int | None = None


class Ending(AttemptLost):
    """Why, as in the job's `error`."""

    code: str = Field(examples=["out_of_memory"])
    message: str = Field(examples=["the job needs more memory"])
    retryable: bool


class InPhase(BaseModel):
    """Which phase."""

    phase: Phase


class Likelihood(InPhase):
    """The newest mean log-likelihood of the fit."""

    loglik: float = Field(examples=[-3.27])


@dataclass(frozen=True, kw_only=True)
class SelectedNow(Selected):
    """The feature as in a result; a gain that is no finite number is null."""

    gain: float | None  # type: ignore[assignment]


class UnitNews(BaseModel):
    """Which unit, and what there is to say of it."""

    unit: int = Field(examples=[3])
    kind: Literal["selection", "trial", "sample", "summary"]
    method: str | None = Field(None, description="Of a trial.", examples=["mrmr"])
    split: int | None = Field(None, description="Of a trial.", examples=[1])
    sample: int | None = None
    seconds: float | None = Field(None, description="That a trial took.")
    accuracy: Any = Field(None, description="Of a trial, for every number of features.")
    attempt: int | None = None
    code: str | None = Field(None, description="Why it failed.")
    message: str | None = None
    retryable: bool | None = None


class StateEvent(Happened):
    """The job came a step further."""

    kind: Literal[
        "queued", "started", "succeeded", "handed_back", "cancel_requested", "keep_requested"
    ]
    data: Nothing


class StopEvent(Happened):
    """It was cancelled, or its worker fell silent."""

    kind: Literal["cancelled", "lease_expired"]
    data: AttemptLost


class EndEvent(Happened):
    """It ended without a result."""

    kind: Literal["failed", "expired"]
    data: Ending


class PhaseEvent(Happened):
    """A phase began."""

    kind: Literal["phase"]
    data: InPhase


class LoglikEvent(Happened):
    """The fit improved."""

    kind: Literal["loglik"]
    data: Likelihood


class SelectedEvent(Happened):
    """A feature was chosen."""

    kind: Literal["selected"]
    data: SelectedNow


class UnitEvent(Happened):
    """Something happened to a part of a job that all workers share."""

    kind: Literal[
        "unit_started",
        "unit_succeeded",
        "unit_failed",
        "unit_handed_back",
        "unit_lease_expired",
        "unit_cancelled",
        "unit_expired",
    ]
    data: UnitNews


EventRead = Annotated[
    StateEvent | StopEvent | EndEvent | PhaseEvent | LoglikEvent | SelectedEvent | UnitEvent,
    Field(discriminator="kind"),
]


class EventPage(BaseModel):
    """Events in order; ask again with the token to get what came after."""

    items: list[EventRead]
    next_page_token: str | None = Field(description="Null once nothing more can come.")
