"""Files of a bucket and of a directory, by patterns, in part, and as they were."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from app.datasets.faults import Passing, Rejected
from app.references import buckets
from app.references import fetching as bringing
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


def written(frame: pl.DataFrame, extension: str) -> bytes:
    file = io.BytesIO()
    write: dict[str, Callable[..., object]] = {
        "parquet": frame.write_parquet,
        "csv": frame.write_csv,
        "arrow": frame.write_ipc,
    }
    write[extension](file)
    return file.getvalue()


@pytest.mark.parametrize("extension", ["parquet", "csv", "arrow"])
def test_folders_decide_what_is_read(
    s3: servers.S3, lake: dict[str, Any], reads: Reads, extension: str
) -> None:
    """Those without rows that could match are not fetched, whatever lies in them."""
    objects, content = s3.objects(lake["url"]), written(TABLE.head(10), extension)
    for folder in ("year=2025/city=New%20York", "year=2026/city=Rome", "year=2026/city=Oslo"):
        objects.put(f"sales/{folder}/part-0.{extension}", content)
    unknown = f"sales/year=__HIVE_DEFAULT_PARTITION__/city=Rome/part-0.{extension}"
    objects.put(unknown, content)
    objects.put("sales/year=2024/city=Bonn/part-0." + extension, b"not what its name says")
    objects.put("sales/notes.txt", b"not matched")
    pattern, later = f"sales/**/part-?.{extension}", {"column": "year", "op": ">", "value": 2024}
    outcome, found = reads(lake, path=pattern, filter=[later])
    assert found.columns == ["a", "b", "y", "year", "city"]
    assert found.group_by("year", "city").len().sort("year", "city").rows() == [
        (2025, "New York", 10),
        (2026, "Oslo", 10),
        (2026, "Rome", 10),
    ]
    assert len(outcome["origin"]["objects"]) == 5
    assert outcome["n_bytes"] < 4 * len(content) + 10_000
    chosen = [{"column": "city", "op": "in", "value": ["Rome"]}, later]
    assert reads(lake, path=pattern, filter=chosen)[0]["n_rows"] == 10
    missing = [{"column": "year", "op": "is_null"}]
    assert reads(lake, path=pattern, filter=missing, columns=["a", "y"])[0]["n_rows"] == 10
    with pytest.raises(Rejected, match="no row meets"):
        reads(lake, path=pattern, filter=[{"column": "year", "op": "<", "value": 0}])


# Five groups of 10 000 rows; 64 KiB are read for the footer.
GROUPED = pl.DataFrame(
    {
        "n": [None if n % 7 == 0 else n for n in range(50_000)],
        "x": [float("nan") if n % 5000 == 3 else n / 10 for n in range(50_000)],
        "t": [None if n < 10_000 else f"{n:05d}" for n in range(50_000)],
        "b": [n >= 25_000 for n in range(50_000)],
        "w": [hash((n, "w")) for n in range(50_000)],
        "at": [datetime(1970, 1, 1) + timedelta(seconds=n) for n in range(50_000)],
        "zoned": [datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=n) for n in range(50_000)],
        "day": [date(1970, 1, 1 + n // 10_000) for n in range(50_000)],
    }
)
N_ROW = pl.int_range(pl.len())
N, X, T = pl.col("n"), pl.col("x").fill_nan(None), pl.col("t")


@pytest.mark.parametrize(
    ("condition", "expected", "n_groups"),
    [
        (("n", "<", 9_000), N < 9_000, 1),
        (("n", ">=", 42_000), N >= 42_000, 1),
        (("n", "==", 20_001), N == 20_001, 1),
        (("n", "!=", 20_001), N != 20_001, 5),
        (("n", "in", [11, 49_998]), N.is_in([11, 49_998]), 2),
        (("n", "is_null", None), N.is_null(), 5),
        (("x", ">", 4500.5), X > 4500.5, 1),
        (("x", "<=", 500.5), X <= 500.5, 1),
        (("x", "is_null", None), X.is_null(), 5),
        (("t", "is_not_null", None), T.is_not_null(), 4),
        (("t", "is_null", None), T.is_null(), 1),
        (("t", ">", "44999"), T > "44999", 1),
        (("b", "==", True), pl.col("b"), 3),
        (("at", ">=", "1970-01-01T13:00:00Z"), N_ROW >= 46_800, 1),
        (("at", "<", "1970-01-01T03:00:00+01:00"), N_ROW < 7200, 1),
        (("at", "in", ["1970-01-01T00:00:05"]), N_ROW == 5, 1),
        (("zoned", "<", "1970-01-01T00:00:09Z"), N_ROW < 9, 1),
        (("day", "==", "1970-01-02"), (N_ROW >= 10_000) & (N_ROW < 20_000), 1),
    ],
)
def test_row_groups_that_cannot_match_are_not_fetched(
    s3: servers.S3,
    lake: dict[str, Any],
    reads: Reads,
    condition: tuple[str, str, Any],
    expected: pl.Expr,
    n_groups: int,
) -> None:
    file = io.BytesIO()
    GROUPED.write_parquet(file, row_group_size=10_000, compression="uncompressed")
    size = len(file.getvalue())
    s3.objects(lake["url"]).put("grouped.parquet", file.getvalue())
    asked = [dict(zip(("column", "op", "value"), condition, strict=True))]
    outcome, found = reads(lake, path="grouped.parquet", filter=asked)
    assert found["w"].to_list() == GROUPED.filter(expected)["w"].to_list()
    assert outcome["n_bytes"] < (n_groups + 0.8) / 5 * size


def test_what_is_no_time(s3: servers.S3, lake: dict[str, Any], reads: Reads) -> None:
    s3.objects(lake["url"]).put("grouped.parquet", parquet(GROUPED))
    with pytest.raises(Rejected, match="'soon' is no time such as"):
        reads(lake, path="grouped.parquet", filter=[{"column": "day", "op": ">", "value": "soon"}])


def test_a_group_that_matches_nothing(s3: servers.S3, lake: dict[str, Any], reads: Reads) -> None:
    s3.objects(lake["url"]).put("grouped.parquet", parquet(GROUPED))
    with pytest.raises(Rejected, match="no rows"):
        reads(lake, path="grouped.parquet", filter=[{"column": "n", "op": ">", "value": 99_999}])


def test_an_object_that_changes_meanwhile_is_read_again(
    s3: servers.S3, sales: dict[str, Any], reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replaced(*args: Any) -> None:
        fetching.fetch(*args)
        s3.objects(sales["url"]).put("texts/a.csv", b"other\n")

    monkeypatch.setattr(bringing, "fetch", replaced)
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
