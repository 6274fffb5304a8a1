"""Fine codes that a worker of a cluster makes itself are those that the job has learnt from."""

from __future__ import annotations

import errno
import os
import pickle
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl
import pytest

from app.cluster.faults import ClusterAway, ColumnsOutOfReach
from app.cluster.source import StoredColumns
from app.datasets.columns import defer_columns, held
from app.datasets.faults import Damaged
from app.jobs.specification import Specification
from app.store import copies
from app.store.base import Range, Store, StoreAway, Wanted
from app.store.fetching import fetch
from app.store.places import open_store_at
from app.store.ranges import merged
from core.config import SelectionConfig
from core.data.deferred import Deferred, at_hand
from core.data.preparation import Prepared, prepare
from core.data.unfolding import unfold_times
from core.errors import ScratchFault
from tests.servers import S3
from worker.inputs import late_columns
from worker.runner import explain

N_ROWS = 1000
KEY = "acme/ds_1/columns.parquet"


def frame() -> pl.DataFrame:
    """Of every type, with gaps, values that are no numbers, and levels that are merged."""
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=N_ROWS)
    numbers[:3] = np.nan, np.inf, -np.inf
    gaps = rng.random(N_ROWS) < 0.1
    words = np.array(["(other)", "b.c", "x" * 300, "x" * 299 + "y"])[rng.integers(0, 4, N_ROWS)]
    rare = [f"id{n}" if n % 50 == 0 else word for n, word in enumerate(words.tolist())]
    hours = rng.integers(0, 20_000, N_ROWS)
    times = np.datetime64("2024-03-01T00:00:00.123456", "us") + hours.astype("timedelta64[h]")
    return pl.DataFrame(
        {
            "a.number": numbers,
            "whole": pl.Series([None if g else int(n) for n, g in enumerate(gaps)]),
            "few": pl.Series([None if g else n % 4 for n, g in enumerate(gaps)]),
            "truth": rng.random(N_ROWS) < 0.3,
            "text": pl.Series([None if g else word for word, g in zip(rare, gaps, strict=True)]),
            "when": times,
            "label": pl.Series([None if n % 97 == 0 else n % 2 for n in range(N_ROWS)]),
        }
    )


def stored(place: StoredColumns, store: Store) -> Prepared:
    """A table that is written in row groups which no shard fits, and what a job makes of it."""
    with store.put(KEY) as file:
        frame().write_parquet(file, row_group_size=300)
    with store.on_disk(KEY) as file:
        unfolded = unfold_times(defer_columns(file), "label", SelectionConfig())
        return prepare(unfolded.columns, "label", unfolded.config, lambda _: None, origin=place)


def assert_same_codes(prepared: Prepared) -> None:
    table = prepared.table
    assert {"a.number", "text", "when · hour", "when · elapsed"} <= set(prepared.names)
    assert 0 < table.n_rows < N_ROWS
    source = pickle.loads(pickle.dumps(table.source))
    for first, last in ((0, table.n_rows), (7, 8), (295, 607), (5, 5)):
        np.testing.assert_array_equal(source.fine(first, last), table.at_hand[:, first:last])
    some = np.array([0, 2, len(table.columns) - 1])  # one of them a part of a moment
    np.testing.assert_array_equal(source.of(some).fine(295, 607), table.at_hand[some, 295:607])
    fewer = table.take(np.array([1, 300, 301]))
    assert fewer.source is not None
    np.testing.assert_array_equal(fewer.source.fine(1, 3), table.at_hand[:, [300, 301]])
    np.testing.assert_array_equal(fewer.source.of(some).fine(1, 3), table.at_hand[some, 300:302])


def test_codes_made_elsewhere_are_the_same(tmp_path: Path) -> None:
    store = open_store_at(tmp_path.as_uri(), tmp_path)
    assert_same_codes(stored(StoredColumns(tmp_path.as_uri(), KEY), store))


def test_a_bucket_is_read_in_place(s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in s3.env.items():
        monkeypatch.setenv(name, value)
    address = s3.url()
    assert_same_codes(stored(StoredColumns(address, KEY), open_store_at(address, tmp_path)))


def test_shards_of_a_worker_fetch_no_byte_twice(
    s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in s3.env.items():
        monkeypatch.setenv(name, value)
    address, n_fetched = s3.url(), 0

    def counting(objects: Any, path: str, ranges: list[Range], *rest: Any, **same: Any) -> None:
        nonlocal n_fetched
        n_fetched += sum(end - start for start, end in ranges)
        fetch(objects, path, ranges, *rest, **same)

    store = open_store_at(address, tmp_path)
    table = stored(StoredColumns(address, KEY), store).table
    monkeypatch.setattr(copies, "fetch", counting)
    source = pickle.loads(pickle.dumps(table.source))
    for first in range(0, table.n_rows, 40):
        source.fine(first, min(first + 40, table.n_rows))
    with store.open(KEY) as file:
        assert 0 < n_fetched <= len(file.read())


def test_some_columns_of_a_bucket_are_fetched_without_the_others(
    s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in s3.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(copies, "merged", partial(merged, gap=0))
    address, table = s3.url(), frame()
    store = open_store_at(address, tmp_path)
    with store.put(KEY) as file:
        table.write_parquet(file, row_group_size=300)
    with StoredColumns(address, KEY).columns(["when", "few", "when"]) as columns:
        assert list(columns) == ["when", "few"]
        for name, values in columns.items():
            assert isinstance(values, Deferred)
            expected = held(table[name][250:650])
            np.testing.assert_array_equal(values.read(250, 650), expected)
    here: list[Wanted] = []

    def fetch_here(wanted: Wanted) -> BinaryIO:
        here.append(wanted)
        return store.on_disk(KEY, wanted)

    asked = Specification(dataset_id=f"ds_{0:032x}", target="label")
    with late_columns(asked, ["text"], fetch_here) as columns:
        assert list(columns) == table.columns
        assert len(at_hand(columns["label"])) == N_ROWS
        assert len(here) == 1
        np.testing.assert_array_equal(at_hand(columns["whole"]), held(table["whole"]))
        np.testing.assert_array_equal(at_hand(columns["few"]), held(table["few"]))
        assert len(here) == 2


def test_who_cannot_read_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = StoredColumns(tmp_path.as_uri(), KEY)
    with pytest.raises(ColumnsOutOfReach, match="same store"):
        list(nowhere.read(["x"], 0, 1))

    def away(*_: object) -> None:
        raise StoreAway

    monkeypatch.setattr("app.store.local.LocalStore.on_disk", away)
    with pytest.raises(ClusterAway) as told:
        list(nowhere.read(["x"], 0, 1))
    assert isinstance(pickle.loads(pickle.dumps(told.value)), ClusterAway)


def test_a_full_disk_of_the_cluster_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise ScratchFault("the scratch directory cannot be written: No space left", errno.ENOSPC)

    monkeypatch.setattr("app.store.local.LocalStore.on_disk", full)
    with pytest.raises(ScratchFault) as told:
        list(StoredColumns(tmp_path.as_uri(), KEY).read(["x"], 0, 1))
    carried = pickle.loads(pickle.dumps(told.value))
    assert str(carried).startswith("on a worker of the cluster the scratch directory cannot be")
    assert explain(carried).code == "scratch_failed"


def test_columns_that_are_cut_off_are_damaged_for_a_cluster_too(tmp_path: Path) -> None:
    store = open_store_at(tmp_path.as_uri(), tmp_path)
    with store.put(KEY) as file:
        frame().write_parquet(file)
    os.truncate(tmp_path / KEY, (tmp_path / KEY).stat().st_size // 2)
    with pytest.raises(Damaged) as told:
        list(StoredColumns(tmp_path.as_uri(), KEY).read(["few"], 0, 10))
    assert explain(pickle.loads(pickle.dumps(told.value))).code == "dataset_damaged"
