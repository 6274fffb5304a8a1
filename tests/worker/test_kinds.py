"""Types as people write them: every cell of a messy file, and what is decided over a column."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from app.datasets.formats import Wish
from app.datasets.keys import COLUMNS
from app.datasets.kinds.detection import closest, obey
from app.datasets.kinds.words import why, why_text
from app.datasets.limits import Limits
from tests.worker.test_ingest import LIMITS, as_parquet, read

MESSY = Path(__file__).parents[1] / "data" / "messy.csv"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


MEANT: dict[str, list[Any]] = {
    "euro": [1234.5, 2.0, -3.25, 12345678.9, None],
    "dollar": [107.98, 1000.0, -5.25, 1234567.5, None],
    "swiss": [1234.5, 12.0, -1000000.0, 0.5, None],
    "french": [1234.5, 2.25, -0.5, 3.0, None],
    "share": [0.12, 0.075, 0.0, 1.0, None],
    "loss": [-3.5, 4.25, -7.0, 2.0, None],
    "paid": [12.0, 3.5, 1000.0, None, 0.99],
    "answer": [True, False, True, False, None],
    "flag": [True, False, True, False, None],
    "born": [at("1990-01-31"), at("1991-02-01"), at("2001-12-15"), at("2020-03-02T14:05"), None],
    "us_date": [at("2026-01-31"), at("2026-02-01"), at("2025-12-15"), at("2020-03-02"), None],
    "iso": [
        *[at("2026-01-31"), at("2026-02-01T08:30"), at("2025-12-15"), at("2020-03-02T14:05:06")],
        None,
    ],
    "zoned": [
        *[at("2026-01-31T10:00"), at("2026-02-01T02:00"), at("2025-12-15T23:59:59.5")],
        *[at("2020-03-02T14:05"), None],
    ],
    "named": [at("2026-01-31"), at("2026-02-01"), at("2025-12-15"), at("2020-03-02"), None],
    "american": [at("2026-01-31"), at("2026-02-01"), at("2025-12-15"), at("2020-03-02"), None],
    "clock": [
        *[at("1970-01-01T13:30"), at("1970-01-01T00:05"), at("1970-01-01T23:59")],
        *[at("1970-01-01"), None],
    ],
    "month": [at("2026-01-01"), at("2026-02-01"), at("2025-12-01"), at("2020-03-01"), None],
    "mixed": ["17", "18", "19", "unknown word", "20"],
    "code": ["007", "012", "100", "A13", None],
    "word": ["red", "blue", "red", "  green ", None],
    "digits": [1234, 5678, 9012, 3456, None],
}


def cells(directory: Path) -> dict[str, list[Any]]:
    frame = pl.read_parquet(directory / COLUMNS)
    times = pl.selectors.datetime().dt.replace_time_zone("UTC")
    return frame.with_columns(times).to_dict(as_series=False)


def test_every_cell_of_a_messy_file_means_what_people_mean(tmp_path: Path) -> None:
    outcome = read(tmp_path, MESSY.read_bytes())
    found = cells(tmp_path)
    assert found == MEANT
    profile = {column["name"]: column for column in outcome["columns"]}
    assert profile["digits"]["kind"] == "integer"
    assert profile["zoned"]["reading"]["offset"] == 120
    assert profile["clock"]["parts"] == ["elapsed", "hour"]
    assert profile["born"]["parts"] == ["elapsed", "hour", "weekday", "month"]
    assert {column["unfit"] for column in outcome["columns"]} == {0}


def test_what_does_not_fit_is_counted_and_shown(tmp_path: Path) -> None:
    rows = [f"{i},5;{i}" for i in range(98)] + ["oops;1", "oops;1"]
    column = read(tmp_path, "\n".join(["x;y", *rows]).encode())["columns"][0]
    assert (column["kind"], column["missing"], column["unfit"]) == ("number", 2, 2)
    assert column["unfit_values"] == ["oops"]
    assert column["why"] == "98 of 100 values are numbers, with a comma before decimals."


def test_fewer_than_nearly_all_stay_text(tmp_path: Path) -> None:
    rows = [f"{i},5;{i}" for i in range(97)] + ["oops;1", "other;1", "oops;1"]
    column = read(tmp_path, "\n".join(["x;y", *rows]).encode())["columns"][0]
    assert (column["kind"], column["detected"], column["unfit"]) == ("text", "category", 0)


@pytest.mark.parametrize(
    ("texts", "kind", "first"),
    [
        (["1,234", "5,678"], "number", 1234.0),
        (["1,234", "0,5"], "number", 1.234),
        (["1,234", "0,678"], "number", 1.234),
        (["€ 1.234", "€ 5.678"], "number", 1234.0),
        (["€ 1.234", "€ 5.6"], "number", 1.234),
        (["$5", "€5"], None, None),
        (["1 %", "2"], None, None),
        (["01/02/2026", "03/04/2026"], "time", datetime(2026, 2, 1)),
        (["01/02/2026", "03/14/2026"], "time", datetime(2026, 1, 2)),
        (["2026-02-30", "2026-02-31"], None, None),
        (["t", "t"], None, None),
        (["t", "f"], "boolean", True),
        (["12345678901234567", "x1"], None, None),
        (["00501", "10001"], None, None),
        (["Model 2024", "Model 2025"], None, None),
        (["13:00 pm", "14:00 pm"], None, None),
    ],
)
def test_ambiguity_is_decided_over_the_column(
    texts: list[str], kind: str | None, first: Any
) -> None:
    fit = closest(pl.Series("x", texts))
    assert (fit.reading.kind if fit and fit.is_taken else None) == kind
    if fit is not None and fit.is_taken:
        values = dict(zip(fit.values["text"], fit.values["value"], strict=True))
        assert values[texts[0]] == first


@pytest.mark.parametrize("texts", [["1,234", "5,678"], ["01/02/2026", "03/04/2026"]])
def test_what_might_be_otherwise_is_written_down(texts: list[str]) -> None:
    fit = closest(pl.Series("x", texts))
    assert fit is not None
    assert "change it if" in why(fit)


def test_a_column_that_is_nearly_numbers_says_so() -> None:
    ages = [*map(str, range(18, 80)), "k. A.", "k. A.", "n/a", "elderly", "elderly"]
    near = closest(pl.Series("x", ages))
    assert near is not None
    assert not near.is_taken
    assert why_text(near) == (
        "62 of 64 values are numbers, others like “elderly” are not: choose number if those mean "
        "nothing."
    )
    assert why_text(None) == why_text(closest(pl.Series("x", ["1", "red", "blue"])))


def test_a_wish_goes_before_what_is_found() -> None:
    column = pl.Series("x", ["1,234", "5,678", "word"])
    fit = obey(column, Wish(kind="number", decimal=","))
    assert fit.values["value"].to_list() == [1.234, 5.678, None]
    told = obey(pl.Series("x", ["20260131"]), Wish(kind="time"))
    assert told.values["value"].to_list() == [datetime(2026, 1, 31)]


def test_digits_of_a_typed_file_stay_what_the_file_says(tmp_path: Path) -> None:
    table = {"zip": ["10115", "20095"], "price": ["1,50 €", "2,50 €"], "y": [1, 2]}
    columns = read(tmp_path, as_parquet(table), "parquet")["columns"]
    assert [column["kind"] for column in columns] == ["text", "number", "integer"]


def calls_to_read(directory: Path, n_columns: int, cell: str) -> int:
    """Calls of Python, which no load of the machine changes."""
    line = ",".join([cell] * n_columns) + "\n"
    wide = Limits(**{**vars(LIMITS), "max_columns": n_columns})
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        read(directory, (line * 3).encode(), limits=wide, header=False)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(
    ("cell", "most"), [("", 1800), ("red", 2500), ("7 kg", 6500), ("7.5 EUR", 12500)]
)
def test_a_column_costs_the_same_however_many_there_are(
    tmp_path: Path, cell: str, most: int
) -> None:
    calls_to_read(tmp_path, 2, cell)  # expressions are written down once
    few, many = (calls_to_read(tmp_path, n, cell) for n in (50, 100))
    twice = calls_to_read(tmp_path, 200, cell)
    assert twice - many < 2.2 * (many - few)
    assert (twice - many) / 100 < most
