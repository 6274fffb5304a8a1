"""uvicorn, the way this service runs it."""

from __future__ import annotations

import socket

import uvicorn

from app.settings import Settings


def run_server(factory: str, settings: Settings, fd: int | None = None) -> None:
    """Serve the application that `factory` makes, on an inherited socket or one of its own."""
    config = uvicorn.Config(
        factory,
        factory=True,
        host=settings.host,
        port=settings.port,
        # Ours stays in force: one form, with the ids in every line.
        log_config=None,
        access_log=False,
        server_header=False,
        # Without it one open event stream would hold up a stop for ever.
        timeout_graceful_shutdown=settings.stop_seconds,
    )
    # Not uvicorn's own `fd`: it takes the socket for a Unix one and leaves out TCP_NODELAY.
    sockets = None if fd is None else [socket.socket(fileno=fd)]
    uvicorn.Server(config).run(sockets)
