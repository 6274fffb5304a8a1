"""A store keeps whole files, wherever it is."""

from __future__ import annotations

import os
import resource
from datetime import timedelta
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from app.datasets.columns import defer_columns
from app.datasets.parquet_ranges import ranges_without
from app.settings import Settings
from app.store import objects
from app.store.base import Store, StoreAway
from app.store.places import open_store
from core.data.deferred import at_hand
from tests import servers

MIB = 1 << 20


@pytest.fixture(params=["directory", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    if request.param == "directory":
        return open_store(Settings(data_dir=tmp_path, store_url=f"file://{tmp_path}/a%20b"))
    server: servers.S3 = request.getfixturevalue("s3")
    for name, value in server.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(objects, "PART_BYTES", 5 * MIB)  # the least that S3 takes
    return open_store(Settings(data_dir=tmp_path, store_url=server.url()))


def keep(store: Store, key: str, content: bytes) -> None:
    with store.put(key) as file:
        file.write(content)


@pytest.mark.parametrize("size", [0, 1, 5 * MIB, 21 * MIB + 3])
def test_every_byte_comes_back(store: Store, size: int) -> None:
    content = os.urandom(size)
    with store.put("acme/ds_1/raw") as file:
        file.writelines([content[: size // 3], content[size // 3 :]])
    with store.open("acme/ds_1/raw") as file:
        assert file.read() == content
        assert file.seek(size // 2) == size // 2
        assert file.read(10) == content[size // 2 :][:10]
    with store.on_disk("acme/ds_1/raw") as file:
        assert os.pread(file.fileno(), size + 1, 0) == content


def test_what_breaks_off_leaves_nothing(store: Store, s3: servers.S3) -> None:
    for n_written in (3, 11 * MIB):
        with pytest.raises(KeyboardInterrupt), store.put("acme/ds_1/raw") as file:
            file.write(b"x" * n_written)
            raise KeyboardInterrupt
        with pytest.raises(FileNotFoundError):
            store.open("acme/ds_1/raw")
    assert s3.unfinished() == []
    assert list(store.untouched(timedelta(hours=-1))) == []


def test_deleting_takes_a_folder_and_nothing_beside_it(store: Store) -> None:
    for key in ("acme/ds_1/raw", "acme/ds_1/columns.parquet", "acme/ds_10/raw"):
        keep(store, key, b"x")
    store.delete("acme/ds_1")
    store.delete("acme/ds_1")
    for gone in ("acme/ds_1/raw", "acme/ds_1/columns.parquet"):
        with pytest.raises(FileNotFoundError):
            store.on_disk(gone)
    with store.open("acme/ds_10/raw") as file:
        assert file.read() == b"x"


def test_untouched_folders(store: Store) -> None:
    keep(store, "acme/ds_1/raw", b"x")
    keep(store, "b/ds_2/raw", b"x")
    assert list(store.untouched(timedelta(hours=1))) == []
    for _ in range(2):
        assert sorted(store.untouched(timedelta(hours=-1))) == ["acme/ds_1", "b/ds_2"]
    assert store.has_room()


def test_only_the_columns_that_are_needed_are_fetched(store: Store, s3: servers.S3) -> None:
    rows = range(200_000)
    frame = pl.DataFrame({name: [hash((name, n)) for n in rows] for name in "abcd"})
    with store.put("acme/ds_1/columns.parquet") as file:
        frame.write_parquet(file, row_group_size=70_000, statistics=False)
    excluded = {"b", "c"}
    with store.on_disk("acme/ds_1/columns.parquet", partial(ranges_without, excluded)) as file:
        taken = 512 * os.fstat(file.fileno()).st_blocks
        columns = defer_columns(file, excluded)
        for name in "ad":
            assert np.array_equal(at_hand(columns[name]), frame[name].to_numpy())
    if isinstance(store, objects.ObjectStore):
        assert taken < 0.75 * frame.estimated_size()


def test_memory_does_not_grow_with_the_file(store: Store) -> None:
    piece = os.urandom(MIB)
    peaks = []
    for n_pieces in (40, 120):
        with store.put("acme/ds_1/raw") as file:
            for _ in range(n_pieces):
                file.write(piece)
        store.on_disk("acme/ds_1/raw").close()
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert peaks[1] - peaks[0] < 40 * 1024


def test_a_store_that_is_away_says_so_in_words_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, s3: servers.S3
) -> None:
    for name, value in {**s3.env, "AWS_SECRET_ACCESS_KEY": "revoked"}.items():
        monkeypatch.setenv(name, value)
    store = open_store(Settings(data_dir=tmp_path, store_url=s3.url()))
    assert not store.has_room()
    with pytest.raises(StoreAway) as refused:
        keep(store, "acme/ds_1/raw", b"x")
    assert str(refused.value) == "[Errno 121] the store did not answer as it should"
    with pytest.raises(StoreAway):
        list(store.untouched(timedelta(0)))
    store.delete("acme/ds_1")  # swept later
