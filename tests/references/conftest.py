"""Reading references within the test: a child for each would cost seconds."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from app.datasets.keys import COLUMNS
from app.datasets.limits import Limits
from app.references.reading import read
from app.references.schema import describe
from app.references.source import Source
from tests import servers
from tests.references.misbehaving import Host, misbehaving

LIMITS = Limits(
    memory_bytes=1 << 40,
    scratch_bytes=1 << 30,
    seconds=60,
    max_rows=100_000,
    max_columns=1000,
    max_name_length=256,
    max_cell_bytes=65_536,
)
TABLE = pl.DataFrame({"a": range(1000), "b": [n / 2 for n in range(1000)], "y": ["u", "v"] * 500})
LOOPBACK = ["127.0.0.0/8"]
HUSH = "hush-hush"
Reads = Callable[..., tuple[dict[str, Any], pl.DataFrame]]
Shows = Callable[..., dict[str, Any]]


@pytest.fixture
def reads(tmp_path: Path) -> Reads:
    """Reads a source of a connection: the outcome, and the typed columns."""

    def do(connection: dict[str, Any], **source: Any) -> tuple[dict[str, Any], pl.DataFrame]:
        directory = tmp_path / f"read-{len(list(tmp_path.iterdir()))}"
        directory.mkdir()
        asked = Source(connection="lake", **source).model_dump(mode="json")
        outcome = read(connection, asked, directory, LIMITS)
        return outcome, pl.read_parquet(directory / COLUMNS)

    return do


@pytest.fixture
def shows(tmp_path: Path) -> Shows:
    """What is told of a source before it is read; the same columns come when it is."""

    def do(connection: dict[str, Any], **source: Any) -> dict[str, Any]:
        asked = Source(connection="lake", **source).model_dump(mode="json")
        return describe(connection, asked, tmp_path, LIMITS)

    return do


@pytest.fixture
def lake(s3: servers.S3) -> dict[str, Any]:
    """A connection to a folder of its own, with nothing in it."""
    return {
        "type": "s3",
        "url": s3.url(),
        "endpoint": s3.env["AWS_ENDPOINT_URL"],
        "region": "us-east-1",
        "read": [""],
        "secrets": {
            "access_key_id": s3.env["AWS_ACCESS_KEY_ID"],
            "secret_access_key": s3.env["AWS_SECRET_ACCESS_KEY"],
        },
    }


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with misbehaving() as running:
        yield running


@pytest.fixture
def web(host: Host, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A connection to it; names end with .test and mean loopback, whoever asks."""
    real = socket.getaddrinfo

    def resolved(name: str, *args: Any, **kwargs: Any) -> Any:
        return real("127.0.0.1" if name.endswith(".test") else name, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    host.asked.clear()
    host.tokens.clear()
    return {
        "type": "https",
        "hosts": [f"good.test:{host.port}", f"127.0.0.1:{host.port}"],
        "networks": LOOPBACK,
        "plain": True,
        "secrets": {"token": HUSH},
    }
