"""Routes of webhooks: make, list, change, remove, give a new secret."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from app.api import paging
from app.api.deps import CallerDep, WebhookId, require_json
from app.api.openapi import header, problems
from app.api.schemas.webhooks import (
    WebhookCreate,
    WebhookPage,
    WebhookRead,
    WebhookRotate,
    WebhookSecret,
    WebhookUpdate,
)
from app.db.base import AnyRow
from app.webhooks import service

router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"])

JSON_BODY: dict[str, Any] = {"dependencies": [Depends(require_json)]}


def _with_secret(made: tuple[AnyRow, str]) -> WebhookSecret:
    row, secret = made
    return WebhookSecret.model_validate({**row._mapping, "secret": secret})


@router.post(
    "",
    operation_id="createWebhook",
    status_code=201,
    summary="Make a webhook",
    responses={
        **problems(400, 409, 413, 415),
        201: {"headers": {"Location": header("The webhook.")}},
    },
    **JSON_BODY,
)
def create_webhook(body: WebhookCreate, caller: CallerDep, response: Response) -> WebhookSecret:
    """Has the ends of jobs and of reading datasets told to an address, signed."""
    settings = caller.services.settings
    fields = body.model_dump(mode="json")
    created = caller.write(service.create, fields, settings.quota, settings.networks)
    response.headers["Location"] = f"/v1/webhooks/{created[0].id}"
    return _with_secret(created)


@router.get("", operation_id="listWebhooks", summary="List webhooks", responses=problems())
def list_webhooks(caller: CallerDep, query: Annotated[paging.PageQuery, Query()]) -> WebhookPage:
    """Newest first, with those that jobs named."""
    before = paging.decode_row(query.page_token)
    rows = caller.read(service.list_webhooks, before, query.page_size + 1)
    return WebhookPage(
        items=[WebhookRead.model_validate(row) for row in rows[: query.page_size]],
        next_page_token=paging.token_after(rows, query.page_size),
    )


@router.get(
    "/{webhook_id}",
    operation_id="getWebhook",
    summary="Get a webhook",
    responses=problems(404),
)
def get_webhook(webhook_id: WebhookId, caller: CallerDep) -> WebhookRead:
    """Its filters, and how it fares."""
    return WebhookRead.model_validate(caller.read(service.get, webhook_id))


@router.patch(
    "/{webhook_id}",
    operation_id="updateWebhook",
    summary="Change a webhook",
    responses=problems(400, 404, 409, 413, 415),
    **JSON_BODY,
)
def update_webhook(webhook_id: WebhookId, body: WebhookUpdate, caller: CallerDep) -> WebhookRead:
    """Where it leads, what it is told of, whether it is on."""
    networks = caller.services.settings.networks
    return WebhookRead.model_validate(
        caller.write(service.update, webhook_id, body.changes(), networks)
    )


@router.delete(
    "/{webhook_id}",
    operation_id="deleteWebhook",
    summary="Delete a webhook",
    status_code=204,
    responses=problems(404),
)
def delete_webhook(webhook_id: WebhookId, caller: CallerDep) -> None:
    """With all that was or is to be delivered to it."""
    caller.write(service.delete, webhook_id)


@router.post(
    "/{webhook_id}/rotate",
    operation_id="rotateWebhookSecret",
    summary="Give a webhook a new secret",
    responses=problems(400, 404, 413, 415),
    **JSON_BODY,
)
def rotate_secret(webhook_id: WebhookId, body: WebhookRotate, caller: CallerDep) -> WebhookSecret:
    """Both secrets sign until the overlap is over, so that receivers can follow."""
    overlap = timedelta(seconds=body.overlap_seconds)
    return _with_secret(caller.write(service.rotate, webhook_id, overlap))
