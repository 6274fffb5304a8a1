"""Receivers of webhooks: real HTTP servers that answer as they are told to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook

Receipt = tuple[dict[str, str], bytes]


@dataclass
class Receiver:
    """What came in, in order; `answer` says with which status the next request is answered."""

    port: int = 0
    status: int = 204
    received: list[Receipt] = field(default_factory=list)
    on_receipt: Callable[[bytes], None] = lambda _: None
    released: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.released.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?x=1"

    def events(self, secret: str) -> list[Any]:
        """What came in, each verified by the package that receivers would use."""
        return [Webhook(secret).verify(body, headers) for headers, body in self.received]

    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.received]


@contextmanager
def receiver(port: int = 0) -> Iterator[Receiver]:
    """One on a free port, or on a certain one."""
    state = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            state.received.append(({k.lower(): v for k, v in self.headers.items()}, body))
            state.on_receipt(body)
            state.released.wait(60)
            self.send_response(state.status)
            if 300 <= state.status < 400:
                self.send_header("Location", state.url)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_: Any) -> None:
            """A sender that has lost its patience is no fault of ours."""

    with Server(("127.0.0.1", port), Handler) as server:
        state.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield state
        finally:
            state.released.set()
            server.shutdown()
            thread.join()
