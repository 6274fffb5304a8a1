"""Every kind of table goes in, and comes out with the chosen columns."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest

from pith_client import Pith, Result

NAMES = ["a", "b", "c", "y"]
FRAME = pd.DataFrame(
    {
        "a": [1 / 3, np.nan, 2e300, -5e-324],
        "b": ["u", None, "v", "u"],
        "c": pd.Categorical(["low", "high", "low", "low"]),
        "y": [0, 1, 0, 1],
    }
)
NUMBERS = np.array([[1 / 3, 7, np.nan, 0], [2e300, 8, 1, 1], [0.1, 9, 2, 0]])
TABLES: dict[str, Any] = {
    "pandas": FRAME,
    "polars": pl.from_pandas(FRAME),
    "arrow": pa.Table.from_pandas(FRAME),
    "arrow batch": pa.RecordBatch.from_pandas(FRAME),
    "records": NUMBERS.view([(name, "f8") for name in NAMES])[:, 0],
}
KINDS = {"a": "number", "b": "text", "c": "text", "y": "integer"}


def chosen(*names: str) -> Result:
    """A result that chose these columns for `y`, in this order."""
    features = [{"rank": i, "name": name} for i, name in enumerate(names, 1)]
    return Result("job_1", {"target": "y", "selected": features})


def columns_of(table: Any) -> list[str]:
    if isinstance(table, pa.Table | pa.RecordBatch):
        return list(table.schema.names)
    return list(table.dtype.names if hasattr(table, "dtype") else table.columns)


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_goes_in_and_its_chosen_columns_come_out(pith: Pith, kind: str) -> None:
    table = TABLES[kind]
    dataset = pith.ready(pith.upload(table).id)
    if kind != "records":
        assert {column.name: column.kind for column in dataset.columns} == KINDS
        assert [column.missing for column in dataset.columns] == [1, 1, 0, 0]
    result = pith.select(table, "y", k=2)
    assert columns_of(result.transform(table)) == ["a", "b"]
    assert type(result.transform(table)) is type(table)
    assert pith.job(result.job_id).dataset_id == dataset.id, "the same bytes are kept once"


def test_an_array_goes_in_with_names(pith: Pith) -> None:
    result = pith.select(NUMBERS, "y", k=2, names=NAMES)
    np.testing.assert_array_equal(result.transform(NUMBERS), NUMBERS[:, :2])
    np.testing.assert_array_equal(result.transform(NUMBERS[:, :3]), NUMBERS[:, :2])
    resumed = pith.resume(result.job_id)
    with pytest.raises(ValueError, match="an array has no names"):
        resumed.transform(NUMBERS)
    np.testing.assert_array_equal(resumed.transform(NUMBERS, NAMES), NUMBERS[:, :2])


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_a_file_goes_in_as_it_is(pith: Pith, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"table.{suffix}"
    frame = FRAME.drop(columns="c")
    if suffix == "csv":
        frame.to_csv(path, index=False)
    elif suffix == "parquet":
        frame.to_parquet(path)
    else:
        pyarrow.feather.write_feather(frame, path)
    dataset = pith.ready(pith.upload(path).id)
    assert (dataset.name, dataset.n_bytes) == (path.name, path.stat().st_size)
    assert pith.select(str(path), "y", k=1).names == ["a"]


@pytest.mark.parametrize("table", [FRAME, NUMBERS], ids=["pandas", "array"])
def test_numbers_keep_their_last_digit_where_arrow_is_not_installed(
    pith: Pith, monkeypatch: pytest.MonkeyPatch, table: Any
) -> None:
    for module in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, module, None)
    names = NAMES if table is NUMBERS else None
    dataset = pith.ready(pith.upload(table, names=names).id)
    assert dataset.format == "csv"
    column = dataset.columns[0]
    expected = np.asarray(table)[:, 0].astype(float)
    assert (column.min, column.max) == (np.nanmin(expected), np.nanmax(expected))
    assert column.missing == np.isnan(expected).sum()


def test_columns_of_several_types_go_in_as_text(pith: Pith) -> None:
    frame = pd.DataFrame({"mixed": [1, "one", None, 2.5], 7: [1, 2, 3, 4], "y": [0, 1, 0, 1]})
    for table, names in ((frame, None), (frame.to_numpy(), ["mixed", "7", "y"])):
        dataset = pith.ready(pith.upload(table, names=names).id)
        assert [c.name for c in dataset.columns] == ["mixed", "7", "y"]
        assert (dataset.columns[0].kind, dataset.columns[0].missing) == ("text", 1)
    assert list(chosen("7", "mixed").transform(frame).columns) == [7, "mixed"]


@pytest.mark.parametrize("kind", TABLES)
def test_columns_come_in_the_order_of_the_choice(kind: str) -> None:
    assert columns_of(chosen("c", "a").transform(TABLES[kind])) == ["c", "a"]
    with pytest.raises(ValueError, match="no column 'gone', which was chosen"):
        chosen("a", "gone").transform(TABLES[kind])


@pytest.mark.parametrize(
    ("table", "names", "sentence"),
    [
        (NUMBERS, None, "an array has no names"),
        (NUMBERS, ["a", "b"], "4 columns need as many different names"),
        (NUMBERS, ["a", "a", "b", "y"], "4 columns need as many different names"),
        (NUMBERS[0], NAMES, "two dimensions, not 1"),
        ([[1, 2]], NAMES, "not list"),
    ],
)
def test_what_cannot_go_in_is_told_before_anything_is_sent(
    table: Any, names: Any, sentence: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        Pith("http://127.0.0.1:1").upload(table, names=names)
