"""Stored columns that cannot be read any more are told from a machine that fails to read them."""

from __future__ import annotations

import errno
import io
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import polars as pl
import pytest

from app.datasets.columns import defer_columns
from app.datasets.damage import Damaged, telling_damage
from app.datasets.parquet_ranges import ranges_of_rows, ranges_without
from core.data.deferred import at_hand

FRAME = pl.DataFrame({"a": [n * n % 97 for n in range(5000)], "y": [n % 2 for n in range(5000)]})


def stored() -> bytes:
    file = io.BytesIO()
    FRAME.write_parquet(file)
    return file.getvalue()


def halved(content: bytes) -> bytes:
    return content[: len(content) // 2]


def emptied(_: bytes) -> bytes:
    return b""


def with_another_footer(content: bytes) -> bytes:
    n_bytes = int.from_bytes(content[-8:-4], "little")
    return content[: -n_bytes - 8] + b"\xff" * n_bytes + content[-8:]


@pytest.mark.parametrize("harm", [halved, emptied, with_another_footer])
def test_a_footer_that_is_gone_is_damage(harm: Callable[[bytes], bytes]) -> None:
    content = harm(stored())
    looks: list[Callable[[BinaryIO], object]] = [
        defer_columns,
        lambda file: ranges_without((), file),
        lambda file: ranges_of_rows({"a"}, 0, 10, file),
    ]
    for look in looks:
        with pytest.raises(Damaged, match="upload it again"):
            look(io.BytesIO(content))


def test_rows_that_are_gone_are_damage(tmp_path: Path) -> None:
    path = tmp_path / "columns.parquet"
    path.write_bytes(stored())
    with path.open("rb") as file:
        columns = defer_columns(file)
        path.write_bytes(bytes(len(stored())))
        with pytest.raises(Damaged):
            at_hand(columns["a"])


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EIO, "the disk failed"),
        pl.exceptions.ComputeError("Input/output error (os error 5)"),
        pl.exceptions.ComputeError("memory allocation of 8 bytes failed"),
    ],
)
def test_a_machine_that_fails_damages_nothing(error: Exception) -> None:
    with pytest.raises(type(error)), telling_damage():
        raise error
