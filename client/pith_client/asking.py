"""How every call asks the service, without input or output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import httpx

from pith_client.models import Document
from pith_client.steps import Call, Flow, Item, Pause, Request, exchange, retry_after

T = TypeVar("T")

HOLD = {"Prefer": "wait=30"}


class Asking:
    """What calls are made of; `patience` is how many seconds of pauses one request may cost."""

    def __init__(self, patience: float) -> None:
        self.patience = patience

    def _ask(self, method: str, path: str, **parts: Any) -> Call[httpx.Response]:
        return exchange(Request(method=method, path=path, **parts), self.patience)

    def _pages(self, path: str, read: Callable[[Document], T], **query: Any) -> Flow[T]:
        params = {name: value for name, value in query.items() if value is not None}
        while True:
            page = (yield from self._ask("GET", path, params=params)).json()
            for item in page["items"]:
                yield Item(read(item))
            if page["next_page_token"] is None:
                return
            params["page_token"] = page["next_page_token"]

    def _changed(self, job_id: str, etag: str | None) -> Call[httpx.Response]:
        """The job at once or, when a version of it is known, as soon as there is another."""
        headers = {**HOLD, "If-None-Match": etag} if etag else {}
        response = yield from self._ask("GET", f"/v1/jobs/{job_id}", headers=headers)
        if etag and "preference-applied" not in response.headers:  # something on the way dropped it
            yield Pause(retry_after(response) or 1.0)
        return response
