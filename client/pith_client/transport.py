"""What both clients hand to httpx."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx

from pith_client.steps import Request

CHUNK = 1 << 20


def client_options(url: str, key: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """Options of the httpx client; those of the caller go before ours."""
    headers = {"User-Agent": f"pith-client/{version('pith-client')}"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    ours = {"base_url": url, "headers": headers, "timeout": httpx.Timeout(60, connect=10)}
    return {**ours, **options}


def request_parts(request: Request) -> dict[str, Any]:
    """Everything of a request but a file that it sends."""
    parts: dict[str, Any] = {"params": request.params, "headers": dict(request.headers)}
    if request.json is not None:
        parts["json"] = request.json
    if isinstance(request.content, bytes):
        parts["content"] = request.content
    elif isinstance(request.content, Path):
        parts["headers"]["Content-Length"] = str(request.content.stat().st_size)
    return parts
