"""Tables whose metadata names files that the connection may not read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.sql import SqlCatalog

from app.datasets.faults import Rejected
from tests.references.conftest import TABLE, Reads

BEYOND = "not below what the connection may read"
COMMIT = "00000000000000000000.json"


@pytest.fixture
def open_lake(tmp_path: Path) -> dict[str, Any]:
    """A directory of which one folder may be read, with the same file in it, beside it and out."""
    for where in ("", "lake", "lake/open", "lake/closed"):
        (tmp_path / where).mkdir(exist_ok=True)
        TABLE.write_parquet(tmp_path / where / "secret.parquet")
    url = f"file://{tmp_path}/lake"
    return {"type": "file", "url": url, "read": ["open"], "secrets": {}}


def rewritten(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Lines of JSON, each changed."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        change(line)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize(
    "name",
    [
        "../secret.parquet",
        "%2e%2e/../closed/secret.parquet",
        "..%2Fsecret.parquet",
        "x/../../secret.parquet",
        "{top}/secret.parquet",
        "file://{top}/secret.parquet",
        "s3://other/secret.parquet",
        "http://169.254.169.254/secret.parquet",
        "link.parquet",
    ],
)
def test_a_delta_log_that_points_elsewhere(
    open_lake: dict[str, Any], reads: Reads, tmp_path: Path, name: str
) -> None:
    table = tmp_path / "lake" / "open" / "table"
    write_deltalake(table, TABLE)
    (table / "link.parquet").symlink_to(tmp_path / "secret.parquet")
    size = (tmp_path / "secret.parquet").stat().st_size

    def point(line: dict[str, Any]) -> None:
        if "add" in line:
            line["add"] |= {"path": name.format(top=tmp_path), "size": size}

    assert reads(open_lake, table="open/table")[0]["n_rows"] == TABLE.height
    rewritten(table / "_delta_log" / COMMIT, point)
    with pytest.raises(Rejected, match=f"{BEYOND}|leads out"):
        reads(open_lake, table="open/table")


def test_a_delta_log_that_is_a_link(
    open_lake: dict[str, Any], reads: Reads, tmp_path: Path
) -> None:
    write_deltalake(tmp_path / "elsewhere", TABLE)
    shutil.copytree(tmp_path / "elsewhere", tmp_path / "lake" / "open" / "table")
    log = tmp_path / "lake" / "open" / "table" / "_delta_log" / COMMIT
    log.unlink()
    log.symlink_to(tmp_path / "elsewhere" / "_delta_log" / COMMIT)
    with pytest.raises(Rejected, match="leads out"):
        reads(open_lake, table="open/table")


def test_a_delta_checkpoint_of_sidecars(
    open_lake: dict[str, Any], reads: Reads, tmp_path: Path
) -> None:
    table = tmp_path / "lake" / "open" / "table"
    write_deltalake(table, TABLE)
    DeltaTable(table).create_checkpoint()
    assert reads(open_lake, table="open/table")[0]["n_rows"] == TABLE.height
    (checkpoint,) = (table / "_delta_log").glob("*.checkpoint.parquet")
    sidecar = {"path": "../../../closed/secret.parquet", "sizeInBytes": 1, "modificationTime": 0}
    actions = pl.read_parquet(checkpoint).with_columns(
        sidecar=pl.lit(None).cast(
            pl.Struct({"path": pl.String, "sizeInBytes": pl.Int64, "modificationTime": pl.Int64})
        )
    )
    pointing = pl.DataFrame({"sidecar": [sidecar]})
    pl.concat([actions, pointing], how="diagonal_relaxed").write_parquet(checkpoint)
    with pytest.raises(Rejected, match="sidecars"):
        reads(open_lake, table="open/table")


@pytest.fixture
def iceberg(open_lake: dict[str, Any], reads: Reads, tmp_path: Path) -> Path:
    """A table below the folder that may be read; as it is, it can be."""
    warehouse = tmp_path / "lake" / "open"
    catalog = SqlCatalog("tests", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{warehouse}")
    catalog.create_namespace("ns")
    table = catalog.create_table(
        "ns.sales",
        schema=TABLE.to_arrow().schema,
        properties={"write.avro.compression-codec": "null"},
    )
    table.append(TABLE.to_arrow())
    catalog.close()
    where = Path(table.location().removeprefix("file://"))
    assert reads(open_lake, table=str(where.relative_to(tmp_path / "lake")))[0]["n_rows"] == 1000
    return where


def pointed(file: Path, old: str, where: str) -> None:
    """Another address in the place of one, as long as it was: Avro counts bytes."""
    content = file.read_bytes()
    assert content.count(old.encode()) == 1
    file.write_bytes(content.replace(old.encode(), where.ljust(len(old), "x").encode()))


@pytest.mark.parametrize(
    "where",
    [
        "{top}/secret.parquet",
        "file://{top}/lake/open/../secret.parquet",
        "file://{top}/lake/opened/",
        "s3://other/secret.parquet",
        "http://169.254.169.254/",
        "hdfs://127.0.0.1/",
    ],
)
def test_iceberg_metadata_that_points_elsewhere(
    open_lake: dict[str, Any], reads: Reads, iceberg: Path, tmp_path: Path, where: str
) -> None:
    """Data, the list of data, and the list of lists."""
    (data,), metadata = (iceberg / "data").iterdir(), iceberg / "metadata"
    (manifest,), (manifests,) = metadata.glob("*-m0.avro"), metadata.glob("snap-*.avro")
    newest = max(metadata.glob("*.json"))
    for named, file in ((data, manifest), (manifest, manifests), (manifests, newest)):
        content = file.read_bytes()
        pointed(file, f"file://{named}", where.format(top=tmp_path))
        with pytest.raises(Rejected, match=BEYOND):
            reads(open_lake, table=str(iceberg.relative_to(tmp_path / "lake")))
        file.write_bytes(content)


def test_iceberg_properties_choose_nothing(
    open_lake: dict[str, Any], reads: Reads, iceberg: Path, tmp_path: Path
) -> None:
    """The library would take its own way to files, and where to send credentials, from these."""
    chosen = {"py-io-impl": "nowhere.Mine", "s3.endpoint": "http://127.0.0.1:9"}
    for file in (iceberg / "metadata").glob("*.metadata.json"):
        rewritten(file, lambda line: line["properties"].update(chosen))
    outcome, _ = reads(open_lake, table=str(iceberg.relative_to(tmp_path / "lake")))
    assert outcome["n_rows"] == 1000
