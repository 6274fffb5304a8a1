"""A host of files that does what hosts should not."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

CSV = b"a,b\n" + b"1,2\n" * 1000
CERTIFICATE = Path(__file__).parents[1] / "data" / "good.test.pem"


@dataclass
class Host:
    """What was asked of it; `released` ends all waiting."""

    port: int = 0
    asked: list[str] = field(default_factory=list)
    tokens: list[str | None] = field(default_factory=list)
    content: bytes = b""
    n_sent: int = 0
    released: threading.Event = field(default_factory=threading.Event)


class Handler(BaseHTTPRequestHandler):
    """The path says what happens."""

    protocol_version = "HTTP/1.1"
    host: Host

    def do_GET(self) -> None:
        self.host.asked.append(self.path)
        self.host.tokens.append(self.headers["Authorization"])
        what = self.path.split("/")[1].partition(".")[0].replace("-", "_")
        getattr(self, f"send_{what}")()

    def begin(self, status: int = 200, **headers: Any) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def send_file(self) -> None:
        if self.headers["If-None-Match"] == '"one"':
            self.begin(304)
            return
        self.begin(Content_Length=len(CSV), ETag='"one"')
        self.wfile.write(CSV)

    def send_parts(self) -> None:
        """The range that is asked for, of what the host was given."""
        content = self.host.content
        first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        begin = int(first) if first else max(0, len(content) - int(last))
        part = content[begin : int(last) + 1] if first else content[begin:]
        self.host.n_sent += len(part)
        where = f"bytes {begin}-{begin + len(part) - 1}/{len(content)}"
        self.begin(206, Content_Length=len(part), Content_Range=where)
        self.wfile.write(part)

    def send_to(self) -> None:
        self.begin(302, Location=self.path.partition("?")[2], Content_Length=0)

    def send_nowhere(self) -> None:
        self.begin(302, Content_Length=0)

    def send_loop(self) -> None:
        self.begin(302, Location="/loop.csv", Content_Length=0)

    def send_half(self) -> None:
        self.begin(Content_Length=len(CSV))
        self.wfile.write(CSV[: len(CSV) // 2])
        self.close_connection = True

    def send_half_a_chunk(self) -> None:
        self.begin(Transfer_Encoding="chunked")
        self.wfile.write(b"%x\r\n" % len(CSV) + CSV[:9])
        self.close_connection = True

    def send_endless(self) -> None:
        self.begin(Connection="close")
        while not self.host.released.is_set():
            self.wfile.write(CSV)

    def send_nothing(self) -> None:
        self.host.released.wait(60)
        self.close_connection = True

    def send_slowly(self) -> None:
        """A byte now and then, so that no single wait is long."""
        self.begin(Content_Length=len(CSV))
        while not self.host.released.wait(0.05):
            self.wfile.write(b"1")

    def send_busy(self) -> None:
        self.begin(503, Content_Length=0, Retry_After=1)

    def send_forbidden(self) -> None:
        self.begin(403, Content_Length=0)

    def send_noise(self) -> None:
        self.wfile.write(b"\0\1\2 not HTTP\r\n\r\n")
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: Any) -> None:
        """A caller that has lost its patience is no fault of ours."""


@contextmanager
def misbehaving(*, secure: bool = False) -> Iterator[Host]:
    """One on a free port; a secure one proves to be good.test."""
    host = Host()
    with Server(("127.0.0.1", 0), type("Bound", (Handler,), {"host": host})) as server:
        host.port = server.server_address[1]
        if secure:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield host
        finally:
            host.released.set()
            server.shutdown()
            thread.join()
