"""Routes of deliveries: what a webhook was told, once more, and a first try."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from app.api import paging
from app.api.deps import CallerDep, WebhookId, require_json
from app.api.openapi import problems
from app.api.schemas.webhooks import DeliveryPage, DeliveryRead, Redeliver, Redelivered
from app.webhooks import history
from app.webhooks.models import DeliveryStatus

router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"])


class DeliveryQuery(paging.PageQuery):
    """Which deliveries of a list."""

    status: DeliveryStatus | None = None


@router.get(
    "/{webhook_id}/deliveries",
    operation_id="listDeliveries",
    summary="List deliveries",
    responses=problems(404),
)
def list_deliveries(
    webhook_id: WebhookId, caller: CallerDep, query: Annotated[DeliveryQuery, Query()]
) -> DeliveryPage:
    """Newest first, with what was answered."""
    before = paging.decode_row(query.page_token)
    size = query.page_size
    rows = caller.read(history.list_deliveries, webhook_id, query.status, before, size + 1)
    return DeliveryPage(
        items=[DeliveryRead.model_validate(row) for row in rows[:size]],
        next_page_token=paging.token_after(rows, size),
    )


@router.post(
    "/{webhook_id}/redeliver",
    operation_id="redeliver",
    status_code=202,
    summary="Deliver again",
    dependencies=[Depends(require_json)],
    responses=problems(400, 404, 409, 413, 415),
)
def redeliver(webhook_id: WebhookId, body: Redeliver, caller: CallerDep) -> Redelivered:
    """One delivery, whatever became of it, or all that are dead; under their old ids."""
    rows = caller.write(history.redeliver, webhook_id, body.delivery_id)
    return Redelivered(items=[DeliveryRead.model_validate(row) for row in rows])


@router.post(
    "/{webhook_id}/ping",
    operation_id="pingWebhook",
    status_code=202,
    summary="Try a webhook",
    responses=problems(404, 409),
)
def ping_webhook(webhook_id: WebhookId, caller: CallerDep) -> DeliveryRead:
    """Delivers an event of the type `ping`, at once."""
    return DeliveryRead.model_validate(caller.write(history.ping, webhook_id))
