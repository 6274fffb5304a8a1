"""Files of a bucket and of a directory, by patterns, in part, and as they were."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from app.datasets.faults import Passing, Rejected
from app.references import buckets, files
from app.store import fetching
from tests import servers
from tests.references.conftest import TABLE, Reads


def parquet(frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


@pytest.fixture
def sales(s3: servers.S3, lake: dict[str, Any]) -> dict[str, Any]:
    """Two years of sales."""
    objects = s3.objects(lake["url"])
    for year in (2025, 2026):
        objects.put(f"sales/year={year}/part.parquet", parquet(TABLE))
    objects.put("texts/a.csv", TABLE.write_csv().encode())
    objects.put("texts/b.csv", TABLE.head(5).write_csv().encode())
    return lake


def test_a_pattern_with_folders_that_carry_values(sales: dict[str, Any], reads: Reads) -> None:
    outcome, found = reads(sales, path="sales/**/*.parquet")
    assert found.columns == ["a", "b", "y", "year"]
    assert (outcome["n_rows"], found["year"].unique().sort().to_list()) == (2000, [2025, 2026])
    first, second = outcome["origin"]["objects"]
    assert first["path"] == "sales/year=2025/part.parquet"
    assert (first["size"], first["e_tag"]) == (second["size"], second["e_tag"])
    again, _ = reads(sales, path="sales/*/part.parquet")
    assert again["sha256"] == outcome["sha256"]


def test_part_of_it(sales: dict[str, Any], reads: Reads) -> None:
    chosen = [
        {"column": "year", "op": "==", "value": 2026},
        {"column": "b", "op": "<", "value": 10},
        {"column": "y", "op": "in", "value": ["u"]},
    ]
    _, found = reads(sales, path="sales/**/*.parquet", columns=["a", "y"], filter=chosen)
    assert found["a"].to_list() == list(range(0, 20, 2))
    _, first = reads(sales, path="texts/*.csv", limit=7)
    assert first["a"].to_list() == list(range(7))
    draws = [
        reads(sales, path="texts/a.csv", sample={"rows": 50, "seed": seed})[1]["a"].to_list()
        for seed in (1, 1, 2)
    ]
    assert draws[0] == draws[1] == sorted(draws[0])
    assert len(draws[0]) == 50
    assert draws[0] != draws[2]


def test_bytes_go_with_the_columns(s3: servers.S3, lake: dict[str, Any], reads: Reads) -> None:
    wide = pl.DataFrame({f"c{n}": [hash((n, row)) for row in range(20_000)] for n in range(20)})
    s3.objects(lake["url"]).put("wide.parquet", parquet(wide))
    whole, _ = reads(lake, path="wide.parquet")
    part, found = reads(lake, path="wide.parquet", columns=["c3", "c17"])
    assert found.equals(wide.select("c3", "c17"))
    assert part["n_bytes"] < 0.13 * whole["n_bytes"]


def test_an_object_that_changes_meanwhile_is_read_again(
    s3: servers.S3, sales: dict[str, Any], reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replaced(*args: Any) -> None:
        fetching.fetch(*args)
        s3.objects(sales["url"]).put("texts/a.csv", b"other\n")

    monkeypatch.setattr(files, "fetch", replaced)
    with pytest.raises(Passing, match=buckets.CHANGED):
        reads(sales, path="texts/a.csv")


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ({"path": "nothing/*.csv"}, "nothing matches"),
        ({"path": "nothing.csv"}, "there is no 'nothing.csv'"),
        ({"path": "texts/a.csv", "columns": ["a", "z"]}, "there is no column 'z'"),
        ({"path": "texts/a.csv", "format": "parquet"}, "could not be read as parquet"),
        ({"table": "texts"}, "no Delta or Iceberg table"),
    ],
)
def test_what_cannot_be_read(
    sales: dict[str, Any], reads: Reads, source: dict[str, Any], why: str
) -> None:
    with pytest.raises(Rejected, match=why):
        reads(sales, **source)


def test_revoked_credentials_may_come_back(sales: dict[str, Any], reads: Reads) -> None:
    secrets = {**sales["secrets"], "secret_access_key": "revoked"}
    with pytest.raises(Passing) as failed:
        reads({**sales, "secrets": secrets}, path="texts/a.csv")
    assert "revoked" not in str(failed.value)


def test_links_do_not_lead_out_of_a_directory(tmp_path: Path, reads: Reads) -> None:
    (tmp_path / "lake" / "open").mkdir(parents=True)
    (tmp_path / "lake" / "closed.csv").write_text("a,b\n1,2\n")
    (tmp_path / "lake" / "open" / "link.csv").symlink_to("../closed.csv")
    (tmp_path / "lake" / "open" / "file.csv").write_text("a,b\n1,2\n")
    lake = {"type": "file", "url": f"file://{tmp_path}/lake", "read": ["open"], "secrets": {}}
    assert reads(lake, path="open/file.csv")[0]["n_rows"] == 1
    with pytest.raises(Rejected, match="leads out"):
        reads(lake, path="open/link.csv")
