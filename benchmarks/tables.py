"""Parquet files as the accuracy benchmark wants them: raw columns, and the last one the label."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from core.arrays import Bytes, Truths, Values
from core.config import Discretize
from core.data.encoding import encode_column
from core.data.recoding import encode_with
from core.data.resampling import Split, stratified_split

TARGET = "target"
TEST_FRACTION = 0.3
EQUAL_WIDTH = Discretize(bins=5, strategy="uniform")
"""The paper's cut."""


@dataclass(frozen=True, eq=False)
class RawTable:
    """A dataset as it is; classes are numbered."""

    name: str
    columns: dict[str, Values]
    labels: Values

    def split(self, index: int) -> Split:
        """The same split for every method."""
        return stratified_split(self.labels, TEST_FRACTION, seed=0, index=index)


def read_table(path: Path, max_rows: int) -> RawTable:
    """Of a larger table a random sample of `max_rows` is taken, the same for all methods."""
    frame = pl.read_parquet(path)
    if len(frame) > max_rows:
        frame = frame.sample(max_rows, seed=0)
    *features, target = frame.get_columns()
    columns = {column.name: column.to_numpy() for column in features}
    return RawTable(path.stem, columns, (target.rank("dense").to_numpy() - 1).astype(np.uint8))


@dataclass(frozen=True, eq=False)
class Part:
    """One split of a table: `train` and `test` hold the columns that vary in the training rows."""

    train: dict[str, Values]
    test: dict[str, Values]
    train_labels: Values
    test_labels: Values

    @classmethod
    def of(cls, table: RawTable, index: int) -> Part:
        """Whatever is learnt about a column is learnt from the training rows.

        They come in a random order: where many are equally near, scikit-learn's neighbours are the
        first of them, and files are often sorted by class.
        """
        split, labels = table.split(index), table.labels
        rows = np.random.default_rng(index).permutation(split.train)
        train = {n: v[rows] for n, v in table.columns.items() if _varies(v[rows])}
        test = {name: table.columns[name][split.test] for name in train}
        return cls(train, test, labels[rows], labels[split.test])

    @property
    def table(self) -> dict[str, Values]:
        """What a selection sees."""
        return {**self.train, TARGET: self.train_labels}

    def is_number(self, name: str) -> bool:
        """Whether the values of a column lie on a scale."""
        return self.train[name].dtype.kind in "biuf"

    def codes(self, names: list[str]) -> tuple[Bytes, Bytes, Truths]:
        """Codes of the training and the test rows, cut at equal width, and which are ordered."""
        learnt = [encode_column(name, self.train[name], EQUAL_WIDTH) for name in names]
        test = [encode_with(one.learnt, self.test[one.learnt.name]) for one in learnt]
        ordered = np.array([self.is_number(name) for name in names])
        return np.column_stack([one.codes for one in learnt]), np.column_stack(test), ordered


def _varies(values: Values) -> bool:
    return pl.Series(values, nan_to_null=values.dtype.kind == "f").drop_nulls().n_unique() > 1
