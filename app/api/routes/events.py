"""What happened to a job: as a list, or live."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query, Response
from fastapi.sse import EventSourceResponse, format_sse_event
from pydantic import Field
from sqlalchemy.exc import SQLAlchemyError

from app.api import paging
from app.api.deps import Caller, CallerDep, JobId
from app.api.negotiation import JSON, Accept, preferred
from app.api.openapi import problems
from app.api.schemas.events import EventPage, Told, ToldPage
from app.db.base import AnyRow
from app.errors import FieldError, Invalid, NotFound
from app.jobs import service
from app.jobs.methods import Strict
from app.jobs.state import Status

router = APIRouter(prefix="/v1/jobs", tags=["outcomes"])

SSE = EventSourceResponse.media_type
MAX_EVENTS = 1000
KEEP_ALIVE_SECONDS = 15
PAUSE_SECONDS = 1.0


class EventQuery(Strict):
    """Which page of the events."""

    page_size: Annotated[int, Field(ge=1, le=MAX_EVENTS)] = 100
    page_token: Annotated[str | None, Field(max_length=512)] = None


@router.get(
    "/{job_id}/events",
    operation_id="listEvents",
    summary="What happened to a job",
    response_model=EventPage,
    responses={
        **problems(404, 406),
        200: {
            "description": "Events in order.",
            "content": {SSE: {"schema": {"type": "string"}}},
        },
        204: {"description": "To a stream that has heard the last event of a final job."},
    },
)
async def list_events(
    job_id: JobId,
    caller: CallerDep,
    query: Annotated[EventQuery, Query()],
    accept: Accept = None,
    last_event_id: Annotated[
        str | None, Header(description="Number of the last event that was heard.")
    ] = None,
) -> Response:
    """Phases, likelihood and every chosen feature; as JSON, or live as `text/event-stream`."""
    media_type = preferred(accept, (JSON, SSE))
    after = _event_number(last_event_id) or paging.decode_number(query.page_token)
    job, events = await caller.read_aside(service.read_events, job_id, after, query.page_size)
    if media_type == SSE:
        if Status(job.status).is_final and after >= job.n_events:
            return Response(status_code=204)
        headers = {"Cache-Control": "no-store"}
        return EventSourceResponse(_stream(caller, job_id, after), headers=headers)
    last = events[-1].seq if events else after
    is_over = Status(job.status).is_final and last >= job.n_events
    page = ToldPage(
        items=[Told.model_validate(event) for event in events],
        next_page_token=None if is_over else paging.encode([last]),
    )
    return Response(page.model_dump_json(), media_type=JSON)


def _event_number(last_event_id: str | None) -> int:
    if not last_event_id:
        return 0
    if not last_event_id.isascii() or not last_event_id.isdigit() or len(last_event_id) > 9:
        detail = "Last-Event-ID is the number of an event"
        raise Invalid(detail, errors=[FieldError("/Last-Event-ID", detail, "header")])
    return int(last_event_id)


async def _stream(caller: Caller, job_id: str, after: int) -> AsyncIterator[bytes]:
    while True:
        try:
            job, events = await caller.read_aside(service.read_events, job_id, after, MAX_EVENTS)
        except NotFound:  # deleted while it was watched
            return
        except SQLAlchemyError:  # the answer has begun: no other can be given, but time
            yield format_sse_event(comment="the database is away")
            await asyncio.sleep(PAUSE_SECONDS)
            continue
        for event in events:
            yield _framed(event)
            after = event.seq
        if Status(job.status).is_final and after >= job.n_events:
            return
        if after < job.n_events:
            continue
        if not await caller.services.watcher.wait(job_id, job.version, KEEP_ALIVE_SECONDS):
            yield format_sse_event(comment="still here")
        if caller.services.watcher.is_closed:  # the listener comes back with Last-Event-ID
            return


def _framed(event: AnyRow) -> bytes:
    data = Told.model_validate(event).model_dump_json()
    return format_sse_event(id=str(event.seq), event=event.kind, data_str=data)
