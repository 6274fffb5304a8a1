"""Columns of files, told before they are read: the same that come when they are."""

from __future__ import annotations

import io
from functools import partial
from typing import Any

import obstore
import polars as pl
import pytest

from app.references import buckets, schema
from tests import servers
from tests.references.conftest import TABLE, Reads, Shows

KINDS = {"a": "integer", "b": "number", "y": "text", "year": "integer", "city": "text"}
WITH_A_YEAR = TABLE.with_columns(year=pl.lit("of the file"))


def written(suffix: str) -> bytes:
    file = io.BytesIO()
    match suffix:
        case "parquet":
            WITH_A_YEAR.write_parquet(file)
        case "arrow":
            WITH_A_YEAR.write_ipc(file)
        case "arrows":
            WITH_A_YEAR.write_ipc_stream(file)
        case _:
            WITH_A_YEAR.write_csv(file)
    return file.getvalue()


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows", "csv"])
def test_files_in_folders_that_carry_values(
    s3: servers.S3, lake: dict[str, Any], reads: Reads, shows: Shows, suffix: str
) -> None:
    content, objects = written(suffix), s3.objects(lake["url"])
    for year in (2025, 2026):
        obstore.put(objects, f"sales/year={year}/city=Bonn/part.{suffix}", content)
    told = shows(lake, path=f"sales/**/*.{suffix}")
    assert {column["name"]: column["kind"] for column in told["columns"]} == KINDS
    assert (told["n_objects"], told["n_bytes"]) == (2, 2 * len(content))
    _, found = reads(lake, path=f"sales/**/*.{suffix}")
    assert found.columns == list(KINDS)
    assert found["year"].unique().sort().to_list() == [2025, 2026]


def test_of_parquet_nothing_but_its_end_is_fetched(
    s3: servers.S3, lake: dict[str, Any], shows: Shows, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = io.BytesIO()
    fetched: list[int] = []
    pl.concat([TABLE] * 200).write_parquet(file, compression="uncompressed")
    obstore.put(s3.objects(lake["url"]), "large.parquet", file.getvalue())
    counted = partial(buckets.open_object, tell=fetched.append)
    monkeypatch.setattr(schema, "open_object", counted)
    shows(lake, path="large.parquet")
    assert 0 < sum(fetched) < len(file.getvalue()) / 5
