"""A limit on every body that is not an upload."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope

from app.errors import CLOSE

MAX_DOCUMENT_BYTES = 1 << 20
UPLOADS = "/v1/datasets"


def limit_body(scope: Scope, receive: Receive, seconds: float) -> Receive:
    """Uploads watch their own bytes; every other body is a small document and comes soon."""
    if scope["path"] == UPLOADS:
        return receive
    received, arriving = 0, True
    until = asyncio.get_running_loop().time() + seconds

    async def receive_limited() -> Any:
        nonlocal received, arriving
        try:
            async with asyncio.timeout_at(until if arriving else None):
                message = await receive()
        except TimeoutError:
            detail = f"the body did not arrive within {seconds:g} seconds"
            raise HTTPException(408, detail, CLOSE) from None
        arriving = message.get("more_body", False)
        received += len(message.get("body", b""))
        if received > MAX_DOCUMENT_BYTES:
            detail = f"the body is larger than {MAX_DOCUMENT_BYTES} bytes"
            raise HTTPException(413, detail, CLOSE)
        return message

    return receive_limited
