"""What the profile of a table tells about trouble ahead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from app.cli.select import NO_LIMITS
from app.datasets.formats import CsvOptions, Format
from app.datasets.tables import Source, ingest
from app.datasets.warnings import table_warnings

N = 200
HARMLESS: dict[str, list[Any]] = {
    "measured": [i * 0.5 for i in range(N)],
    "class": ["a", "b"] * (N // 2),
    "flag": [i % 2 == 0 for i in range(N)],
}
TROUBLE: dict[str, list[tuple[str, list[Any]]]] = {
    "id_like": [
        ("number", list(range(1000, 1000 + N))),
        ("name", [f"customer {i}" for i in range(N)]),
    ],
    "nearly_constant": [("zero", [0] * (N - 1) + [1]), ("always", ["x"] * N)],
    "mostly_missing": [("gap", [1.5, 2.5] * 20 + [None] * (N - 40))],
    "skewed": [("income", [float(i % 50) for i in range(N - 1)] + [1e6])],
}


def warned(columns: dict[str, list[Any]], directory: Path) -> list[Any]:
    file = directory / "table.parquet"
    pl.DataFrame(columns).write_parquet(file)
    source = Source(file, Format.PARQUET, CsvOptions(), directory)
    found = ingest(source, directory / "columns.parquet", NO_LIMITS)
    return table_warnings(found["n_rows"], found["columns"])


def test_a_harmless_table_is_not_warned_of(tmp_path: Path) -> None:
    assert warned(HARMLESS, tmp_path) == []


@pytest.mark.parametrize("code", TROUBLE)
def test_trouble_is_named(code: str, tmp_path: Path) -> None:
    columns = dict(TROUBLE[code])
    (warning,) = warned(HARMLESS | columns, tmp_path)
    assert warning.code == code
    assert warning.columns == tuple(columns)
    assert warning.message.startswith(" and ".join(columns))


def test_many_columns_are_counted(tmp_path: Path) -> None:
    (warning,) = warned(HARMLESS | {f"c{i}": [0] * N for i in range(7)}, tmp_path)
    assert warning.message == "c0, c1, c2, c3, c4 and 2 more have nearly always the same value."
    assert len(warning.columns) == 7


def test_fewer_rows_than_columns_are_said(tmp_path: Path) -> None:
    (warning,) = warned({f"c{i}": [0.5 * i, 1.0, 2.0] for i in range(4)}, tmp_path)
    assert (warning.code, warning.columns) == ("few_rows", ())
    assert "fewer rows (3) than columns (4)" in warning.message


def test_an_upload_that_is_not_read_has_no_warnings() -> None:
    assert table_warnings(None, []) == []
