"""Reading references within the test: a child for each would cost seconds."""

from __future__ import annotations

from collections.abc import Callable
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
