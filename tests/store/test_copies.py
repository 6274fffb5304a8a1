"""What was fetched of an object serves its next readers, for as long as it is still the same."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from obstore.store import MemoryStore

from app.store import copies
from app.store.base import Range, Store, StoreAway, Wanted
from app.store.fetching import fetch
from app.store.kept import Kept
from app.store.places import open_store_at
from app.store.ranges import merged, without
from tests.core.worlds import examples
from tests.servers import S3

MIB = 1 << 20
KEY = "acme/ds_1/columns.parquet"

Ranges = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 8)).map(lambda r: (r[0], sum(r))))


def covered(ranges: Iterable[Range]) -> set[int]:
    return {place for start, end in ranges for place in range(start, end)}


@examples(100)
@given(Ranges, Ranges)
def test_what_is_not_there_yet_is_found(ranges: list[Range], others: list[Range]) -> None:
    here = [one for one in merged(others, gap=0) if one[0] < one[1]]
    missing = list(without(ranges, here))
    assert covered(missing) == covered(ranges) - covered(here)
    assert missing == list(merged(missing, gap=0))


class Bucket:
    """An object of some MiB, and how many bytes of it were fetched."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store, self.kept, self.n_fetched = store, Kept(), 0
        self.write(8 * MIB)

        def counting(objects: Any, path: str, ranges: list[Range], *rest: Any, **same: Any) -> None:
            self.n_fetched += sum(end - start for start, end in ranges)
            fetch(objects, path, ranges, *rest, **same)

        monkeypatch.setattr(copies, "fetch", counting)

    def write(self, size: int) -> None:
        self.content = os.urandom(size)
        with self.store.put(KEY) as file:
            file.write(self.content)

    def assert_read(self, *ranges: Range) -> int:
        """Read these, and say how much of the disk the file takes."""
        with self.store.on_disk(KEY, exactly(*ranges), self.kept) as file:
            for start, end in ranges:
                assert os.pread(file.fileno(), end - start, start) == self.content[start:end]
            return 512 * os.fstat(file.fileno()).st_blocks


def exactly(*ranges: Range) -> Wanted:
    def wanted(_: BinaryIO) -> list[Range]:
        return list(ranges)

    return wanted


@pytest.fixture
def bucket(s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    for name, value in s3.env.items():
        monkeypatch.setenv(name, value)
    return Bucket(open_store_at(s3.url(), tmp_path), monkeypatch)


def test_nothing_is_fetched_twice(bucket: Bucket) -> None:
    bucket.assert_read((0, MIB))
    bucket.assert_read((MIB // 2, 2 * MIB), (7 * MIB, 8 * MIB))
    bucket.assert_read((0, 2 * MIB), (7 * MIB, 7 * MIB + 5))
    assert bucket.n_fetched == 3 * MIB
    bucket.kept = pickle.loads(pickle.dumps(bucket.kept))
    bucket.assert_read((0, MIB))
    assert bucket.n_fetched == 4 * MIB


def test_what_was_looked_at_to_know_what_is_wanted_is_not_fetched_again(bucket: Bucket) -> None:
    size = len(bucket.content)

    def look(file: BinaryIO) -> list[Range]:
        file.seek(-8, os.SEEK_END)
        assert file.read() == bucket.content[-8:]
        return [(0, MIB), (size - 8, size)]

    for _ in range(2):
        bucket.store.on_disk(KEY, look, bucket.kept).close()
        assert bucket.n_fetched == MIB + 8


def test_beyond_the_bound_only_what_is_wanted_stays(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "KEPT_BYTES", 3 * MIB)
    for first in range(7):
        taken = bucket.assert_read((first * MIB, (first + 2) * MIB))
        assert taken < 3.5 * MIB
    assert bucket.n_fetched == 8 * MIB
    bucket.assert_read((0, 4 * MIB))
    copy = bucket.kept.copy
    bucket.assert_read((0, MIB))
    assert bucket.n_fetched == 12 * MIB
    assert bucket.kept.copy is copy


def test_threads_share_what_each_of_them_fetches(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = np.random.default_rng(1).integers(0, 7 * MIB, 200).tolist()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda start: bucket.assert_read((start, start + MIB)), starts))
        assert bucket.n_fetched <= len(bucket.content)
        monkeypatch.setattr(copies, "KEPT_BYTES", 2 * MIB)
        list(threads.map(lambda start: bucket.assert_read((start, start + MIB)), starts))


def test_an_object_that_changed_is_fetched_anew(bucket: Bucket) -> None:
    bucket.assert_read((0, MIB))
    bucket.write(8 * MIB)
    bucket.assert_read((0, MIB))
    bucket.write(4 * MIB)
    bucket.assert_read((0, MIB))
    assert bucket.n_fetched == 3 * MIB
    bucket.store.delete("acme")
    with pytest.raises(FileNotFoundError):
        bucket.assert_read((0, MIB))


def test_two_versions_of_an_object_are_never_mixed(bucket: Bucket) -> None:
    def change(_: BinaryIO) -> list[Range]:
        bucket.write(8 * MIB)
        return [(0, MIB)]

    with pytest.raises(StoreAway):
        bucket.store.on_disk(KEY, change, bucket.kept)
    bucket.assert_read((0, MIB))


@pytest.mark.parametrize(("e_tag", "is_fetched"), [(None, True), ('W/"1"', True), ('"1"', False)])
def test_only_a_strong_tag_tells_versions_apart(e_tag: str | None, is_fetched: bool) -> None:
    held = MemoryStore()
    held.put(KEY, b"content")
    with tempfile.TemporaryFile() as file:
        with nullcontext() if is_fetched else pytest.raises(StoreAway):
            fetch(held, KEY, [(0, 7)], file.fileno(), e_tag=e_tag)
        assert file.read() == (b"content" if is_fetched else b"")
