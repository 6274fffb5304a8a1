"""Delta and Iceberg tables on S3, written by their own libraries, and rows of Postgres."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import psycopg
import pytest
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.types import LongType

from app.datasets.faults import Passing, Rejected
from app.references.look import is_same
from app.references.progress import READING, read_progress
from app.references.source import Source
from tests import servers
from tests.references.conftest import TABLE, Reads, Shows


def look(connection: dict[str, Any], outcome: dict[str, Any], **source: Any) -> bool:
    """Whether a source is as it was when it was read."""
    asked = Source(connection="lake", **source).model_dump(mode="json")
    return is_same(connection, asked, outcome["origin"])


def named(told: dict[str, Any]) -> dict[str, str]:
    return {column["name"]: column["kind"] for column in told["columns"]}


KINDS = {"a": "integer", "b": "number", "y": "text"}
FILTER = [{"column": "b", "op": ">=", "value": 10.0}]


def test_delta(lake: dict[str, Any], reads: Reads, shows: Shows) -> None:
    url = f"{lake['url']}/tables/delta"
    options = {**lake["secrets"], "endpoint": lake["endpoint"], "region": "us-east-1"}
    options |= {"allow_http": "true", "aws_conditional_put": "etag"}
    write_deltalake(url, TABLE, storage_options=options)
    wider = TABLE.head(10).with_columns(c=1)
    write_deltalake(url, wider, mode="append", schema_mode="merge", storage_options=options)
    before, _ = reads(lake, table="tables/delta")
    DeltaTable(url, storage_options=options).delete("a = 3")
    newest, found = reads(lake, table="tables/delta")
    assert look(lake, before, table="tables/delta") is False
    assert look(lake, newest, table="tables/delta") is True
    assert look(lake, before, table="tables/delta", version=1) is True
    assert newest["origin"]["snapshot"] == {"format": "delta", "version": 2}
    told = shows(lake, table="tables/delta")
    assert (named(told), told["snapshot"]) == (
        KINDS | {"c": "integer"},
        newest["origin"]["snapshot"],
    )
    first = shows(lake, table="tables/delta", version=0)
    assert (named(first), first["n_rows"]) == (KINDS, 1000)
    assert (found.height, found.columns, found["c"].null_count()) == (
        1008,
        ["a", "b", "y", "c"],
        999,
    )
    first, found = reads(lake, table="tables/delta", version=0, columns=["a", "y"], filter=FILTER)
    assert first["origin"]["snapshot"]["version"] == 0
    assert found["a"].to_list() == list(range(20, 1000))
    with pytest.raises(Rejected, match="has no version 7; the newest is 2"):
        reads(lake, table="tables/delta", version=7)


def test_iceberg(lake: dict[str, Any], reads: Reads, shows: Shows, tmp_path: Path) -> None:
    names = {"access_key_id": "s3.access-key-id", "secret_access_key": "s3.secret-access-key"}
    options = {names[name]: value for name, value in lake["secrets"].items()}
    options |= {"s3.endpoint": lake["endpoint"], "s3.region": "us-east-1"}
    catalog = SqlCatalog(
        "tests", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=lake["url"], **options
    )
    catalog.create_namespace("ns")
    table = catalog.create_table("ns.sales", schema=TABLE.to_arrow().schema)
    table.append(TABLE.to_arrow())
    where = table.location().removeprefix(f"{lake['url']}/")
    before, _ = reads(lake, table=where)
    table.delete("a < 5")
    newest, found = reads(lake, table=where)
    assert look(lake, before, table=where) is False
    assert look(lake, newest, table=where) is True
    assert newest["origin"]["snapshot"]["version"] == table.snapshots()[-1].snapshot_id
    assert found["a"].min() == 5
    old = table.snapshots()[0].snapshot_id
    assert look(lake, before, table=where, version=str(old)) is True
    _, found = reads(lake, table=where, version=str(old), columns=["a", "y"], filter=FILTER)
    assert found["a"].to_list() == list(range(20, 1000))
    with table.update_schema() as change:
        change.rename_column("b", "price")
        change.add_column("c", LongType())
        change.delete_column("y")
    wider = pl.DataFrame({"a": [1001], "price": [1.5], "c": [7]})
    table.append(wider.to_arrow())
    latest, found = reads(lake, table=where)
    told = shows(lake, table=where)
    assert named(told) == {"a": "integer", "price": "number", "c": "integer"}
    assert told["snapshot"] == latest["origin"]["snapshot"]
    assert named(shows(lake, table=where, version=old)) == KINDS
    assert (found.columns, found.height, found["c"].null_count()) == (["a", "price", "c"], 996, 995)
    chosen = [{"column": "c", "op": "==", "value": 7}]
    few, found = reads(lake, table=where, filter=chosen)
    assert found["price"].to_list() == [1.5]
    assert few["n_bytes"] < latest["n_bytes"]
    with pytest.raises(Rejected, match="there is no column 'y'"):
        reads(lake, table=where, columns=["a", "y"])
    with pytest.raises(Rejected, match="has no snapshot"):
        reads(lake, table=where, version=7)
    catalog.close()


MOMENTS = [datetime(2026, 1, 31, hour, tzinfo=UTC) for hour in range(24)]
DATED = pl.DataFrame(
    {
        "day": [moment.date() + timedelta(days=n % 3) for n, moment in enumerate(MOMENTS)],
        "at": [moment.replace(tzinfo=None) for moment in MOMENTS],
        "zoned": MOMENTS,
        "n": range(24),
    }
)
TIMES = [
    (("day", ">", "2026-01-31"), pl.col("n") % 3 > 0),
    (("day", "==", "2026-02-01"), pl.col("n") % 3 == 1),
    (("day", "<", "2026-01-31T12:00"), pl.col("n") % 3 == 0),
    (("at", ">=", "2026-01-31T20:00"), pl.col("n") >= 20),
    (("at", "in", ["2026-01-31", "2026-01-31T05:00Z"]), pl.col("n").is_in([0, 5])),
    (("zoned", "<", "2026-01-31T03:00+01:00"), pl.col("n") < 2),
    (("zoned", "is_not_null", None), pl.col("n") >= 0),
]


def test_times_are_compared(tmp_path: Path, reads: Reads) -> None:
    here = {"type": "file", "url": f"file://{tmp_path}", "read": [""], "secrets": {}}
    write_deltalake(str(tmp_path / "delta"), DATED)
    warehouse = f"file://{tmp_path}"
    catalog = SqlCatalog("times", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=warehouse)
    catalog.create_namespace("ns")
    table = catalog.create_table("ns.times", schema=DATED.to_arrow().schema)
    table.append(DATED.to_arrow())
    tables = ["delta", table.location().removeprefix(f"{warehouse}/")]
    for condition, expected in TIMES:
        asked = [dict(zip(("column", "op", "value"), condition, strict=True))]
        for name in tables:
            _, found = reads(here, table=name, filter=asked)
            assert found["n"].to_list() == DATED.filter(expected)["n"].to_list(), (name, asked)
    catalog.close()


@pytest.fixture(scope="module")
def warehouse(postgres: servers.Postgres) -> dict[str, Any]:
    """A table of a thousand rows, owned by the role that reads."""
    url = f"postgresql://{servers.OWNER}@127.0.0.1:{postgres.port}/{postgres.create()}"
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE sales (a int, price numeric, y text, day date)")
        connection.execute(
            "INSERT INTO sales SELECT i, i * 1.5, 'it''s ' || i % 3, '2026-01-01'::date + i % 7 "
            "FROM generate_series(1, 1000) i"
        )
    secrets = {"password": "not asked/@ for"}
    return {"type": "postgres", "url": url, "schemas": ["public"], "seconds": 1, "secrets": secrets}


def test_rows_of_postgres(warehouse: dict[str, Any], reads: Reads) -> None:
    chosen = [{"column": "y", "op": "==", "value": "it's 1"}]
    outcome, found = reads(warehouse, table="sales", columns=["a", "price"], filter=chosen)
    assert found["price"].to_list() == [n * 1.5 for n in range(1, 1001, 3)]
    assert outcome["origin"]["query"] == "sales"
    outcome, found = reads(warehouse, query="SELECT * FROM sales WHERE a <= 10 -- first", limit=3)
    assert found["a"].to_list() == [1, 2, 3]
    assert outcome["origin"]["query"] == "SELECT * FROM sales WHERE a <= 10 -- first"


def test_what_is_told_of_rows_before_and_while_they_are_read(
    warehouse: dict[str, Any], reads: Reads, shows: Shows, tmp_path: Path
) -> None:
    query = "SELECT *, a > 3 AS large FROM sales"
    kinds = {"a": "integer", "price": "number", "y": "text", "day": "time"}
    assert named(shows(warehouse, table="sales")) == kinds
    assert named(shows(warehouse, query=query)) == kinds | {"large": "boolean"}
    with pytest.raises(Rejected, match="the database refuses the query"):
        shows(warehouse, query="SELECT * FROM sales; DROP TABLE sales")
    before = datetime.now(UTC)
    outcome, found = reads(warehouse, query=query)
    assert found.columns == [*kinds, "large"]
    assert before <= datetime.fromisoformat(outcome["origin"]["read_at"]) <= datetime.now(UTC)
    (directory,) = tmp_path.glob("read-*")
    progress = read_progress(directory)
    assert progress is not None
    assert 0 < progress <= READING


@pytest.mark.parametrize(
    "query",
    [
        "INSERT INTO sales (a) VALUES (1) RETURNING a, y",
        "SELECT a, y FROM sales; DROP TABLE sales",
        "SELECT a, y FROM sales) AS q; DROP TABLE sales; SELECT (1",
        "SELECT a, y FROM sales) AS q; COMMIT; --",
        "WITH gone AS (DELETE FROM sales RETURNING a, y) SELECT * FROM gone",
        "SELECT set_config('transaction_read_only', 'off', false) AS a, 1 AS b",
        "SELECT nextval('pg_catalog.nothing') AS a, 1 AS b",
        "SELEC 1",
    ],
)
def test_one_statement_that_only_reads(warehouse: dict[str, Any], reads: Reads, query: str) -> None:
    with pytest.raises(Rejected, match="the database refuses the query"):
        reads(warehouse, query=query)
    assert reads(warehouse, table="public.sales")[0]["n_rows"] == 1000


def test_limits_of_queries(warehouse: dict[str, Any], reads: Reads) -> None:
    with pytest.raises(Rejected, match="longer than the 1 seconds"):
        reads(warehouse, query="SELECT pg_sleep(30)::text AS a, 1 AS b")
    with pytest.raises(Rejected, match="more than 100000 rows"):
        reads(warehouse, query="SELECT i AS a, i AS b FROM generate_series(1, 200000) i")
    with pytest.raises(Rejected, match="may not be read"):
        reads(warehouse, table="pg_catalog.pg_authid")


def test_a_database_that_is_away(warehouse: dict[str, Any], reads: Reads) -> None:
    nowhere = f"postgresql://reader@127.0.0.1:{servers.free_port()}/x"
    with pytest.raises(Passing) as failed:
        reads({**warehouse, "url": nowhere}, table="sales")
    assert "not asked" not in str(failed.value)
