"""What happened to a job, as callers see it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from app.api.schemas.base import FromRow


class EventRead(FromRow):
    """Something that happened to a job."""

    seq: int = Field(description="From 1, without gaps; the id of the server-sent event.")
    at: datetime
    kind: str = Field(examples=["selected"])
    data: dict[str, Any]


class EventPage(BaseModel):
    """Events in order; ask again with the token to get what came after."""

    items: list[EventRead]
    next_page_token: str | None = Field(description="Null once nothing more can come.")
