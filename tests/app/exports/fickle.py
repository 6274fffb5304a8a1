"""An object store that fails when told to: a real one behind a server that may answer for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Fickle:
    """What was asked for, in order; `verdict` may answer a request with a status of its own."""

    behind: int
    port: int = 0
    asked: list[tuple[str, str]] = field(default_factory=list)
    verdict: Callable[[str, str], int | None] = lambda method, path: None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def written(self) -> list[str]:
        """The names of what was put, in order."""
        return [path.rpartition("/")[2] for method, path in self.asked if method == "PUT"]


@contextmanager
def fickle(behind: int) -> Iterator[Fickle]:
    """One on a free port, before the store on the port `behind`."""
    state = Fickle(behind)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"] or 0))
            path = self.path.partition("?")[0]
            state.asked.append((self.command, path))
            status = state.verdict(self.command, path)
            if status is not None:
                self.answer(status, {}, b"")
                return
            store = HTTPConnection("127.0.0.1", state.behind)
            store.request(self.command, self.path, body, dict(self.headers))
            answer = store.getresponse()
            self.answer(answer.status, dict(answer.headers), answer.read())
            store.close()

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any  # noqa: N815

        def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response_only(status)
            for name in headers.keys() - {"Content-Length", "Transfer-Encoding", "Connection"}:
                self.send_header(name, headers[name])
            length = headers.get("Content-Length", "0") if self.command == "HEAD" else len(body)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_: Any) -> None:
            """Whoever asked may be dead by now."""

    with Server(("127.0.0.1", 0), Handler) as server:
        state.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()
