"""The path below which a proxy serves us, whether or not it takes it off before it asks."""

from __future__ import annotations

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Prefixed:
    """Plain ASGI: nothing within knows of the prefix, and what leads elsewhere leads below it."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self.app = app
        self.prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or not self.prefix:
            await self.app(scope, receive, send)
            return
        if scope["path"] == self.prefix:  # addresses in the page are relative to a folder
            await RedirectResponse(f"{self.prefix}/")(scope, receive, send)
            return

        async def send_prefixed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [self._below(*header) for header in message["headers"]]
            await send(message)

        await self.app(self._within(scope), receive, send_prefixed)

    def _within(self, scope: Scope) -> Scope:
        if not scope["path"].startswith(f"{self.prefix}/"):
            return scope
        raw = scope.get("raw_path") or scope["path"].encode()
        whole = raw.removeprefix(self.prefix.encode())
        return {**scope, "path": scope["path"].removeprefix(self.prefix), "raw_path": whole}

    def _below(self, name: bytes, value: bytes) -> tuple[bytes, bytes]:
        is_ours = name.lower() == b"location" and value.startswith(b"/")
        return name, self.prefix.encode() + value if is_ours else value
