"""HEAD, for every route that has a GET: the same headers, and no body."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Headed:
    """Plain ASGI: asks the application for GET and keeps the body to itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        began = False

        async def send_head(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                await send(message)
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        async def receive_end() -> Message:
            """A stream, of events above all, ends when its head is told."""
            return {"type": "http.disconnect"} if began else await receive()

        await self.app({**scope, "method": "GET"}, receive_end, send_head)
