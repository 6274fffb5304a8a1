"""Stored columns that cannot be read any more are told from a machine that fails to read them."""

from __future__ import annotations

import errno
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from app.datasets.checksums import Checksums, add_checksums
from app.datasets.columns import defer_columns
from app.datasets.damage import telling_damage
from app.datasets.faults import Damaged
from app.datasets.parquet_groups import GROUP_ROWS, write_columns
from app.datasets.parquet_ranges import chunk_range, own_footer, ranges_of_rows, ranges_without
from core.data.deferred import Deferred, at_hand

FRAME = pl.DataFrame({"a": [n * n % 97 for n in range(5000)], "y": [n % 2 for n in range(5000)]})


def stored() -> bytes:
    file = io.BytesIO()
    FRAME.write_parquet(file)
    return file.getvalue()


def written(path: Path, frame: pl.DataFrame = FRAME) -> bytes:
    """As the service writes columns."""
    write_columns(frame.lazy(), path)
    add_checksums(path)
    return path.read_bytes()


def with_another_bit(content: bytes, place: int) -> bytes:
    changed = bytearray(content)
    changed[place] ^= 1
    return bytes(changed)


def read_all(content: bytes) -> list[Any]:
    columns = map(at_hand, defer_columns(io.BytesIO(content)).values())
    return [
        c.tolist() if isinstance(c, np.ndarray) else [*c.places, *c.vocabulary] for c in columns
    ]


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


def test_every_flipped_bit_is_damage_or_harms_nothing(tmp_path: Path) -> None:
    frame = FRAME.head(300).with_columns(t=pl.Series(["é", None, "long"] * 100))
    content = written(tmp_path / "columns.parquet", frame)
    assert pl.DataFrame(pq.read_table(io.BytesIO(content))).equals(frame)  # a file like any other
    group = pq.read_metadata(io.BytesIO(content)).row_group(0)
    rows = {n for column in range(3) for n in range(*chunk_range(group.column(column)))}
    whole = read_all(content)
    for place in range(len(content)):
        try:
            assert read_all(with_another_bit(content, place)) == whole
            assert place not in rows
        except Damaged:
            pass


def test_what_is_damaged_in_other_columns_is_no_matter(tmp_path: Path) -> None:
    content = written(tmp_path / "columns.parquet")
    chunk = pq.read_metadata(io.BytesIO(content)).row_group(0).column(1)
    damaged = with_another_bit(content, sum(chunk_range(chunk)) // 2)
    columns = defer_columns(io.BytesIO(damaged), without=["y"])
    assert np.array_equal(at_hand(columns["a"]), FRAME["a"].to_numpy())
    with pytest.raises(Damaged):
        read_all(damaged)


def test_rows_are_verified_by_the_row_groups_that_they_are_in(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": np.arange(GROUP_ROWS + 9) % 7})
    content = written(tmp_path / "columns.parquet", frame)
    chunk = pq.read_metadata(io.BytesIO(content)).row_group(1).column(0)
    column = defer_columns(io.BytesIO(with_another_bit(content, chunk_range(chunk)[1] - 1)))["a"]
    assert isinstance(column, Deferred)
    assert np.array_equal(np.asarray(column.read(5, 9)), [5, 6, 0, 1])
    with pytest.raises(Damaged):
        column.read(GROUP_ROWS - 1, GROUP_ROWS + 1)


def test_files_of_before_have_no_checksums_and_are_read() -> None:
    file = io.BytesIO(stored())
    assert Checksums.of(file, own_footer(file)) is None
    assert read_all(stored()) == [FRAME[name].to_list() for name in FRAME.columns]


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
