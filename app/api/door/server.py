"""uvicorn, the way this service runs it."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from app.api.door.protocol import ImpatientProtocol
from app.settings import Settings


class Server(uvicorn.Server):
    """Lets requests that wait for a job go before it waits for requests."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop; held polls would use up the time they are given, and end as a 500."""
        if "stop_waiting" in self.lifespan.state:
            self.lifespan.state["stop_waiting"]()
        await super().shutdown(sockets)


def run_server(factory: Callable[[], FastAPI], settings: Settings, fd: int | None = None) -> None:
    """Serve the application that `factory` makes, on an inherited socket or one of its own."""
    config = uvicorn.Config(
        factory,
        factory=True,
        host=settings.host,
        port=settings.port,
        http=ImpatientProtocol,
        # Ours stays in force: one form, with the ids in every line.
        log_config=None,
        access_log=False,
        server_header=False,
        # Whose word is taken for where a request comes from; by default anybody's on this machine.
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies,
        # The default of 5 s is also that of clients: both sides closed at the same time, and the
        # request that was under way had no answer. Proxies keep connections for 60 s.
        timeout_keep_alive=75,
        # Without it one open event stream would hold up a stop for ever.
        timeout_graceful_shutdown=settings.stop_seconds,
    )
    # Not uvicorn's own `fd`: it takes the socket for a Unix one and leaves out TCP_NODELAY.
    sockets = None if fd is None else [socket.socket(fileno=fd)]
    Server(config).run(sockets)
