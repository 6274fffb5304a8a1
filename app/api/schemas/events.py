"""What happened to a job, as callers see it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from app.api.schemas.base import FromRow
from app.jobs.state import TRANSITIONS

_ENDS = {transition.event for transition in TRANSITIONS}
KINDS = sorted(
    {"queued", "cancel_requested", "phase", "loglik", "selected"}
    | _ENDS
    | {f"unit_{event}" for event in _ENDS}
)


class EventRead(FromRow):
    """Something that happened to a job."""

    seq: int = Field(description="From 1, without gaps; the id of the server-sent event.")
    at: datetime
    kind: str = Field(json_schema_extra={"enum": [*KINDS]}, examples=["selected"])
    data: dict[str, Any] = Field(
        description="`phase`: which; `loglik`: its phase and value; `selected`: the feature as in "
        "a result; `failed` and `expired`: why, as in the job's `error`; `unit_...`: which unit.",
        examples=[
            {"phase": "fit"},
            {"phase": "fit", "loglik": -3.27},
            {"code": "out_of_memory", "message": "the job needs more memory", "retryable": False},
            {"unit": 3, "kind": "trial", "method": "mrmr", "split": 1},
        ],
    )


class EventPage(BaseModel):
    """Events in order; ask again with the token to get what came after."""

    items: list[EventRead]
    next_page_token: str | None = Field(description="Null once nothing more can come.")
