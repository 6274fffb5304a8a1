"""The accuracy benchmark: what is learnt about a column is learnt from the training rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks.judges import JUDGES, judge, raw_numbers
from benchmarks.tables import Part, RawTable, read_table


@pytest.fixture
def part() -> Part:
    rng = np.random.default_rng(0)
    labels = np.resize([0, 1], 100).astype(np.uint8)
    wide, word = labels + rng.normal(0, 0.1, 100), np.array(["a", "b"], dtype=object)[labels]
    table = RawTable("t", {"wide": wide, "word": word, "same": np.ones(100)}, labels)
    test = table.split(0).test
    wide[test[0]], word[test[1]] = 1e6, "never seen"
    return Part.of(table, 0)


def test_an_outlier_among_the_test_rows_moves_no_cut(part: Part) -> None:
    train, test, ordered = part.codes(["wide", "word"])
    assert len(set(train[:, 0].tolist())) > 2
    assert test[0].tolist()[0] == train[:, 0].max()
    assert ordered.tolist() == [True, False]


def test_raw_values_are_scaled_and_split_by_the_training_rows(part: Part) -> None:
    train, test = raw_numbers(part, "wide")
    assert abs(train.mean()) < 1e-9 and abs(train.std() - 1) < 1e-9
    assert test.max() > 1e5
    train, test = raw_numbers(part, "word")
    assert train.shape[1] == 2
    assert test.sum(axis=1).tolist().count(0.0) == 1


def test_columns_that_do_not_vary_are_left_out(part: Part) -> None:
    assert list(part.train) == ["wide", "word"]


def test_every_judge_sees_what_tells(part: Part) -> None:
    curves = judge(part, ["wide", "word"])
    assert set(curves) == set(JUDGES)
    assert all(len(curve) == 2 and min(curve) > 0.9 for curve in curves.values())


def test_words_and_gaps_survive_the_file(tmp_path: Path) -> None:
    frame = pl.DataFrame({"n": [1, None, 3], "w": ["a", None, "b"], "target": ["x", "y", "x"]})
    frame.write_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", 10)
    assert np.isnan(table.columns["n"][1]) and table.columns["w"][1] is None
    assert table.labels.tolist() == [0, 1, 0]
