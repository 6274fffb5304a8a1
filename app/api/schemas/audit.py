"""The audit as callers see it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from app.api.schemas.base import JOB_EXAMPLE, ActorRead, FromRow
from app.audit.models import Action


class AuditLineRead(FromRow):
    """One change: who, from where, what, and of which row."""

    id: str = Field(examples=["aud_0123456789abcdef0123456789abcdef"])
    created_at: datetime
    actor: ActorRead
    address: str | None = Field(description="Of the request.", examples=["192.0.2.7"])
    request_id: str | None = Field(
        description="The `X-Request-ID` of its answer.", examples=["6f1c0a52b7d94e11"]
    )
    action: Action
    object_id: str = Field(description="Of the row that was changed.", examples=[JOB_EXAMPLE])
    details: dict[str, Any] = Field(
        description="What more there is to say, such as which fields; never their values.",
        examples=[{"fields": ["title"]}],
    )


class AuditPage(BaseModel):
    """One page of the audit, newest first."""

    items: list[AuditLineRead]
    next_page_token: str | None
