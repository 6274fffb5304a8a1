"""Files that are odd, broken or hostile."""

from __future__ import annotations

import io
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.datasets.columns import defer_columns
from app.datasets.faults import Rejected
from app.datasets.formats import CsvOptions, Format
from app.datasets.keys import COLUMNS
from app.datasets.limits import Limits
from app.datasets.parquet_groups import GROUP_ROWS
from app.datasets.tables import Source, ingest
from core import budgets
from core.config import Discretize
from core.data.deferred import at_hand
from core.data.encoding import encode_column
from core.data.texts import NO_TEXT, Texts

LIMITS = Limits(
    memory_bytes=4 << 30,
    scratch_bytes=4 << 30,
    seconds=60,
    max_rows=1000,
    max_columns=100,
    max_name_length=64,
    max_cell_bytes=1000,
)


def read(
    directory: Path, content: bytes, form: str = "csv", limits: Limits = LIMITS, **options: Any
) -> Any:
    (directory / "raw").write_bytes(content)
    source = Source(directory / "raw", Format(form), CsvOptions(**options), directory)
    return ingest(source, directory / COLUMNS, limits)


def load(directory: Path, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """The columns as core takes them, texts row by row."""
    with (directory / COLUMNS).open("rb") as file:
        deferred = defer_columns(file, without)
        columns = {name: at_hand(column) for name, column in deferred.items()}
    return {name: in_rows(c) if isinstance(c, Texts) else c for name, c in columns.items()}


def in_rows(column: Texts) -> list[str | None]:
    texts = list(column.vocabulary)
    assert texts == sorted(set(texts))
    return [None if place == NO_TEXT else texts[place] for place in column.places]


def names(outcome: Any) -> list[str]:
    return [column["name"] for column in outcome["columns"]]


def as_parquet(columns: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_shard_of_a_cluster_has_row_groups_of_its_own(tmp_path: Path, form: str) -> None:
    n_rows = budgets.rows_of_shard(100) + 10
    frame = pl.DataFrame({"a": np.arange(n_rows) % 7, "b": np.arange(n_rows) / 3})
    content = frame.write_csv().encode() if form == "csv" else as_parquet(frame.to_dict())
    read(tmp_path, content, form, replace(LIMITS, max_rows=n_rows))
    footer = pq.read_metadata(tmp_path / COLUMNS)
    sizes = [footer.row_group(n).num_rows for n in range(footer.num_row_groups)]
    assert sizes == [GROUP_ROWS, GROUP_ROWS, 10]


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        (b"a,b\n1,x\n2,y\n", {}, ["a", "b"]),
        (b"a;b\n1,5;x\n2,5;y\n", {}, ["a", "b"]),
        (b"a\tb\n1\tx\n", {}, ["a", "b"]),
        (b"\xef\xbb\xbfa,b\n1,2\n", {}, ["a", "b"]),
        ("ä,b\n1,é\n".encode("cp1252"), {}, ["ä", "b"]),
        ("ä,b\n1,2\n".encode("utf-16"), {}, ["ä", "b"]),
        (b'"a,1",b\n"x,\ny",2\n', {}, ["a,1", "b"]),
        (b"1,2\n3,4\n", {}, ["column_1", "column_2"]),
        (b"1,2\n3,4\n", {"header": True}, ["1", "2"]),
        (b",b\n0,2\n1,3\n", {}, ["column_1", "b"]),
        (b"a|b,c\n1|2\n", {"delimiter": "|"}, ["a", "b,c"]),
        (b"a,b\r\n1,2\r\n", {}, ["a", "b"]),
    ],
)
def test_dialects(
    tmp_path: Path, content: bytes, options: dict[str, Any], expected: list[str]
) -> None:
    assert names(read(tmp_path, content, **options)) == expected


@pytest.mark.parametrize(
    ("content", "form", "reason"),
    [
        (b"", "csv", "empty"),
        (b"a,b\n", "csv", "no rows"),
        (b"a\n1\n", "csv", "fewer than two columns"),
        (b"a,a\n1,2\n", "csv", "several columns are called 'a'"),
        (b"a,b\n1,2,3\n", "csv", "line 2 has 3 cells where the first has 2: 1,2,3"),
        (b"a,b\r\n1,2\r\n\r\n3\r\n", "csv", "line 4 has 1 cell where the first has 2: 3"),
        (b"a,b\n1,2\n3", "csv", "line 3 has 1 cell where the first has 2: 3"),
        (b'a,b\n"1\n",2\n3,4,5\n', "csv", "line 4 has 3 cells where the first has 2: 3,4,5"),
        (b'a,b\n1,2\n"3,4\n5,6\n', "csv", 'opens in line 3 is never closed: "3,4'),
        (b'a,b\n1,2\n"3"x,4\n', "csv", "line 3 goes on after a quotation mark that closes"),
        (b'a,b\n1,"' + b"2,3\n" * 400, "csv", "begins in line 2 has more than 1,000 characters"),
        (b"a,b\x1b[31m\n1,2\n", "csv", "not printable"),
        (b"a," + b"x" * 65 + b"\n1,2\n", "csv", "longer than 64"),
        (b"a,b\n\0\0,2\n", "csv", "not text"),
        (b"a,b\n\x81\xff,2\n", "csv", "could not be read as csv"),
        (b"a,b\n" + b"1,2\n" * 1001, "csv", "more than 1000"),
        (",".join(f"c{i}" for i in range(101)).encode() + b"\n", "csv", "101 columns"),
        (b"PAR1" + b"\xff" * 40 + b"PAR1", "parquet", "could not be read as parquet"),
        (b"not a parquet file", "parquet", "could not be read as parquet"),
        (as_parquet({"a": [1, 2], "y": [1, 2]})[:-20], "parquet", "could not be read"),
        (as_parquet({"a": [[1], [2]], "y": [1, 2]}), "parquet", "'a' holds List"),
        (b"\xff\xff\xff\xff\xff\xff\xff\x7f", "arrow_stream", "could not be read as arrow"),
        (b"ARROW1\0\0garbage", "arrow_file", "could not be read as arrow file"),
        (b"a,b\n" + b"x" * 1001 + b",2\n", "csv", "a cell of 1001 bytes, more than 1000"),
        (as_parquet({"a": ["x\0", "y"], "y": [1, 2]}), "parquet", "cells with NUL bytes"),
        (as_parquet({"a": range(1001), "y": range(1001)}), "parquet", "more than 1000"),
        (b"\x1f\x8b\x08" + b"x" * 20, "csv", "compressed with gzip"),
    ],
)
def test_rejections_are_sentences(tmp_path: Path, content: bytes, form: str, reason: str) -> None:
    with pytest.raises(Rejected) as rejected:
        read(tmp_path, content, form)
    assert reason in str(rejected.value)
    assert "\n" not in str(rejected.value)


def test_a_long_first_line_is_read_whole(tmp_path: Path) -> None:
    many = Limits(**{**vars(LIMITS), "max_columns": 50_000})
    header = [f"a_long_name_of_a_column_{i}" for i in range(20_000)]
    content = ",".join(header) + "\n" + ",".join("1" * 20_000) + "\n"
    assert names(read(tmp_path, content.encode(), limits=many)) == header


def test_types_and_missing_values_reach_core(tmp_path: Path) -> None:
    content = b"i,f,b,s,n\n1,1.5,true,u,\n,NaN,,NA,\n3,inf,false,?,\n"
    outcome = read(tmp_path, content)
    profile = {c["name"]: (c["kind"], c["levels"], c["missing"]) for c in outcome["columns"]}
    assert profile == {
        "i": ("integer", 2, 1),
        "f": ("number", 2, 1),
        "b": ("boolean", 2, 1),
        "s": ("text", 1, 2),
        "n": ("text", 0, 3),
    }
    assert outcome["columns"][1]["infinite"] == 1
    columns = load(tmp_path)
    assert columns["i"].tolist() == [1, None, 3]
    assert columns["b"].tolist() == [True, None, False]
    assert columns["s"] == ["u", None, None]
    assert np.isnan(columns["f"][1])


def test_long_texts_stay_apart_but_short(tmp_path: Path) -> None:
    texts = ["x" * 900, "x" * 901, "short"]
    read(tmp_path, as_parquet({"a": texts, "y": [1, 2, 3]}), "parquet")
    shortened = load(tmp_path)["a"]
    assert shortened[2] == "short"
    assert len(set(shortened)) == 3
    assert max(map(len, shortened)) <= 256


def test_one_long_text_costs_the_other_rows_nothing(tmp_path: Path) -> None:
    n_rows = 100_000
    many = Limits(**{**vars(LIMITS), "max_rows": n_rows})
    table = {"a": ["x" * 250, *["y"] * (n_rows - 1)], "y": range(n_rows)}
    read(tmp_path, as_parquet(table), "parquet", many)
    encode_column("b", ["u", "v"], Discretize())  # what it loads at its first call is not counted
    tracemalloc.start()
    with (tmp_path / COLUMNS).open("rb") as file:
        coded = encode_column("a", defer_columns(file)["a"], Discretize())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert coded.learnt.levels == ("x" * 250, "y")
    assert peak < 50 * n_rows


def test_columns_left_out_are_not_read(tmp_path: Path) -> None:
    read(tmp_path, b"a,b,y\n1,u,3\n2,v,4\n")
    columns = load(tmp_path, without=("b",))
    assert {name: len(column) for name, column in columns.items()} == {"a": 2, "b": 0, "y": 2}


def test_a_late_byte_of_windows_1252_decides_the_encoding(tmp_path: Path) -> None:
    content = b"a,b\n" + b"1,x\n" * 100_000 + "2,é\n".encode("cp1252")
    many = Limits(**{**vars(LIMITS), "max_rows": 1_000_000})
    assert read(tmp_path, content, limits=many)["columns"][1]["values"] == ["x", "é"]


def test_times_in_a_csv_are_times(tmp_path: Path) -> None:
    content = (
        b"day,time,zone,clock,word\n2026-01-02,2026-01-02T10:00:00,2026-01-02T10:00:00Z,10:00:00,x\n"
        b"2026-01-04,2026-01-02 10:00:01.5,2026-01-02T10:00:00+02:00,10:00:01,2026-01-01\n"
    )
    columns = read(tmp_path, content)["columns"]
    assert [column["kind"] for column in columns] == [*["time"] * 4, "text"]
    spans = [column["max"] - column["min"] for column in columns[:4]]
    assert spans == [172_800, 1.5, 7200, 1]


LONG = [10**19 + i % 2 for i in range(20)]


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (b"x,y\n" + b"".join(b"%d,%d\n" % (n, n % 2) for n in LONG), "csv"),
        (as_parquet({"x": pa.array(LONG, pa.uint64()), "y": range(20)}), "parquet"),
        (as_parquet({"x": pa.array(LONG, pa.decimal128(38)), "y": range(20)}), "parquet"),
    ],
)
def test_numbers_that_floats_do_not_tell_apart_are_text(
    tmp_path: Path, content: bytes, form: str
) -> None:
    column = read(tmp_path, content, form)["columns"][0]
    assert (column["kind"], column["levels"]) == ("text", 2)
    assert column["values"] == [str(10**19), str(10**19 + 1)]
    assert column["notes"] == ["kept as text: as numbers, different values would become equal"]


def test_one_value_far_from_all_others_is_noted(tmp_path: Path) -> None:
    values = {"x": [*np.linspace(0, 1, 999), 1e12], "z": np.linspace(0, 1, 1000), "c": [1] * 1000}
    columns = read(tmp_path, as_parquet(values), "parquet")["columns"]
    note = "999 of 1000 values lie in a 16th of the range: a few are far from all"
    assert [column["notes"] for column in columns] == [[note], [], []]


def test_a_line_of_delimiters_is_refused_before_its_columns_get_names(tmp_path: Path) -> None:
    wide = Limits(**{**vars(LIMITS), "max_columns": 10_000})
    tracemalloc.start()
    with pytest.raises(Rejected, match="1000001 columns"):
        read(tmp_path, b"," * 1_000_000, limits=wide)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40_000_000


def test_other_types_of_parquet(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "day": pl.Series(["2026-01-01", "2026-01-02"]).str.to_date(),
            "price": pl.Series(["1.50", "2.25"]).str.to_decimal(scale=2),
            "colour": pl.Series(["red", "blue"], dtype=pl.Categorical),
        }
    )
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    outcome = read(tmp_path, buffer.getvalue(), "parquet")
    kinds = [column["kind"] for column in outcome["columns"]]
    assert kinds == ["time", "number", "text"]
    assert outcome["columns"][1]["max"] == 2.25


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        ([0.0, 1.0, 1.0, 16.0], [1, 2, *[0] * 13, 1]),
        ([5, 5, None], [2]),
        ([-1.7e308, 1.7e308, 0.0, float("inf")], [1, *[0] * 7, 1, *[0] * 6, 1]),
        ([-(2**63), 2**63 - 1], [1, *[0] * 14, 1]),
        ([None, float("nan")], []),
    ],
)
def test_numbers_are_counted_in_bins(
    tmp_path: Path, values: list[float | None], counts: list[int]
) -> None:
    content = as_parquet({"x": values, "y": list(range(len(values)))})
    column = read(tmp_path, content, "parquet")["columns"][0]
    assert (column["counts"], column["values"]) == (counts, None)


def test_the_most_frequent_values_are_counted(tmp_path: Path) -> None:
    values = [*"bba", None, "x" * 50, *map(str, range(20))]
    content = as_parquet({"x": values, "y": list(range(len(values)))})
    column = read(tmp_path, content, "parquet")["columns"][0]
    assert column["values"][:3] == ["b", "0", "1"]
    assert column["counts"] == [2, *[1] * 15]
