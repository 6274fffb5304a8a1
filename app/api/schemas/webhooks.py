"""Webhooks and deliveries as callers write and see them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, Field, StringConstraints, field_validator

from app.api.schemas.base import FromRow
from app.jobs.methods import Strict
from app.jobs.specification import Labels
from app.webhooks.events import EventKind
from app.webhooks.models import DeliveryStatus, WebhookStatus
from app.webhooks.naming import Url

ADDRESS = "https://example.org/hooks/pith"
DAY = 86_400
EventKinds = Annotated[list[EventKind], Field(max_length=len(EventKind))]
WebhookName = Annotated[str, StringConstraints(max_length=255, pattern=r"^[^\x00-\x1f\x7f]*$")]


class WebhookCreate(Strict):
    """An endpoint to be told of things."""

    url: Url = Field(examples=[ADDRESS])
    name: WebhookName = Field("", description="A note for you.")
    events: EventKinds = Field(list(EventKind), description="What it is told of.")
    labels: Labels = Field(
        {}, description="Only of jobs with all of these labels; then of no dataset."
    )


class WebhookUpdate(Strict):
    """What is to change; what is left out stays."""

    url: Url | None = Field(None, examples=[ADDRESS])
    name: WebhookName | None = None
    events: EventKinds | None = None
    labels: Labels | None = None
    enabled: bool | None = Field(
        None, description="On again, as if it had never failed; or off, with nothing kept for it."
    )

    def changes(self) -> dict[str, Any]:
        """What was given."""
        given = self.model_dump(mode="json", exclude_unset=True)
        return {name: value for name, value in given.items() if value is not None}


class WebhookRotate(Strict):
    """How the secret is replaced."""

    overlap_seconds: int = Field(
        DAY, ge=0, le=30 * DAY, description="For so long the secret before signs too."
    )


class WebhookRead(FromRow):
    """An endpoint and how it fares."""

    id: str = Field(examples=["wh_0123456789abcdef0123456789abcdef"])
    url: str = Field(examples=[ADDRESS])
    name: str
    events: list[EventKind]
    labels: dict[str, str]
    enabled: bool = Field(validation_alias=AliasChoices("status", "enabled"))
    off_reason: str | None = Field(description="Why it is off.")
    n_failures: int = Field(description="Attempts that failed in a row.")
    failing_since: datetime | None
    named_at: datetime | None = Field(
        description="When a job last named it as `notify`; null when it was made by a call."
    )
    created_at: datetime

    @field_validator("enabled", mode="before")
    @classmethod
    def _is_on(cls, status: Any) -> Any:
        return status == WebhookStatus.ON if isinstance(status, str) else status


class WebhookSecret(WebhookRead):
    """An endpoint with its new secret, which is not shown again."""

    secret: str = Field(examples=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])


class WebhookPage(BaseModel):
    """One page of webhooks, newest first."""

    items: list[WebhookRead]
    next_page_token: str | None


class DeliveryRead(FromRow):
    """One event for one endpoint, and what came of it so far."""

    id: str = Field(examples=["dlv_0123456789abcdef0123456789abcdef"])
    event_id: str = Field(description="The `webhook-id`, the same in every attempt.")
    event: str = Field(examples=["job.succeeded"])
    subject: str = Field(description="The job, the dataset, or with a ping the webhook.")
    status: DeliveryStatus
    attempts: int
    last_status: int | None = Field(description="What was answered last.")
    last_error: str | None = Field(description="Why nothing was, or why it did not count.")
    next_at: datetime = Field(description="Of one that is pending: not before then.")
    created_at: datetime
    tried_at: datetime | None
    delivered_at: datetime | None


class DeliveryPage(BaseModel):
    """One page of deliveries, newest first."""

    items: list[DeliveryRead]
    next_page_token: str | None


class Redeliver(Strict):
    """What is to be delivered again."""

    delivery_id: Annotated[str, StringConstraints(pattern=r"^dlv_[0-9a-f]{32}$")] | None = Field(
        None, description="One delivery; without it all that are dead."
    )


class Redelivered(BaseModel):
    """What is being delivered again."""

    items: list[DeliveryRead]
