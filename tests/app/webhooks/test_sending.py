"""One request to an endpoint: where it goes, and in which words it fails."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from app.addresses import parse_networks
from app.webhooks.sending import send
from app.webhooks.turns import Outcome
from tests.receivers import Receiver

HERE = parse_networks("127.0.0.0/8")


@contextmanager
def answering(reply: bytes) -> Iterator[int]:
    """A port where the first that is said gets this reply, and nothing after it."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            channel, _ = server.accept()
            with channel:
                heard = b""
                while not heard.endswith(b"{}") and not heard.startswith(b"\x16"):
                    heard += channel.recv(1 << 16)
                channel.sendall(reply)
                with suppress(OSError):  # who does not understand a word may hang up
                    channel.shutdown(socket.SHUT_WR)
                    while channel.recv(1 << 16):
                        pass

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        thread.join()


def sent(url: str) -> Outcome:
    return send(url, {}, "{}", seconds=60, allowed=HERE)


@pytest.mark.parametrize(
    ("scheme", "reply", "words"),
    [
        ("http", b"", "it closed the connection without an answer"),
        ("http", b"220 mail.example.org\r\n", "what it answered is not HTTP"),
        ("https", b"HTTP/1.1 400 Bad Request\r\n\r\n", "no encryption could be agreed on"),
    ],
)
def test_a_failure_is_told_in_words(scheme: str, reply: bytes, words: str) -> None:
    with answering(reply) as port:
        outcome = sent(f"{scheme}://127.0.0.1:{port}/")
    assert outcome.status is None
    assert (outcome.error or "").startswith(words)


def test_the_address_that_was_judged_is_connected_to(
    hearing: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that means something else a moment later gains nothing."""
    meanings, really = iter(["127.0.0.1", "10.0.0.1"]), socket.getaddrinfo

    def find(host: str, *rest: Any, **options: Any) -> Any:
        return really(next(meanings) if host == "hooks.test" else host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", find)
    assert sent(hearing.url.replace("127.0.0.1", "hooks.test")).status == 204
    assert len(hearing.received) == 1
    assert list(meanings) == ["10.0.0.1"]
