"""Columns of files, told before they are read: the same that come when they are."""

from __future__ import annotations

import io
from functools import partial
from typing import Any

import obstore
import polars as pl
import pytest

from app.datasets.faults import Passing, Rejected
from app.references import buckets, peeking, schema
from tests import servers
from tests.references.conftest import TABLE, Reads, Shows
from tests.references.misbehaving import CSV, Host

KINDS_OF_A_FILE = {"a": "integer", "b": "number", "y": "text"}
KINDS = {**KINDS_OF_A_FILE, "year": "integer", "city": "text"}
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


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows", "csv"])
def test_a_file_of_a_host_tells_by_a_part(
    host: Host, web: dict[str, Any], shows: Shows, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peeking, "HEAD_BYTES", 4096)
    monkeypatch.setattr(schema, "HEAD_BYTES", 4096)
    host.content, host.n_sent = written(suffix), 0
    told = shows(web, path=f"http://127.0.0.1:{host.port}/parts.{suffix}")
    kinds = {column["name"]: column["kind"] for column in told["columns"]}
    assert kinds == {**KINDS_OF_A_FILE, "year": "text"}
    assert (told["n_objects"], told["n_bytes"]) == (1, len(host.content))
    assert 0 < host.n_sent <= 4096 < len(host.content)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_long_footer_is_asked_for_once_more(
    host: Host, web: dict[str, Any], shows: Shows, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peeking, "HEAD_BYTES", 64)
    host.content, host.asked = written(suffix), []
    told = shows(web, path=f"http://127.0.0.1:{host.port}/parts.{suffix}")
    assert [column["name"] for column in told["columns"]] == ["a", "b", "y", "year"]
    assert len(host.asked) == 2


def test_a_host_that_gives_no_parts(host: Host, web: dict[str, Any], shows: Shows) -> None:
    here = f"http://127.0.0.1:{host.port}"
    told = shows(web, path=f"{here}/file.csv")
    assert [column["name"] for column in told["columns"]] == ["a", "b"]
    assert told["n_bytes"] == len(CSV)
    with pytest.raises(Rejected, match="gives no parts"):
        shows(web, path=f"{here}/file.parquet")
    with pytest.raises(Rejected, match="answers 403"):
        shows(web, path=f"{here}/forbidden.csv")
    with pytest.raises(Rejected, match="could not be read as arrow stream"):
        shows(web, path=f"{here}/file.arrows")
    with pytest.raises(Passing):
        shows(web, path=f"{here}/busy.parquet")


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
