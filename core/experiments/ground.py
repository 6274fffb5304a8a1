"""What trials are held on: the same rows, splits and values for every method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.arrays import Floats, Ints, Truths, Values
from core.config import Evaluate
from core.data.preparation import Prepared
from core.data.problem import CodedProblem
from core.data.recipe import Recipe
from core.data.recoding import as_numbers
from core.data.resampling import Split, stratified_split
from core.data.table import Table
from core.data.texts import Column
from core.experiments.summary import describe_splits


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows, as one side of a split sees them.

    `values` is (n_rows, n_features), what distances are taken on: the codes, or raw numbers.
    `targets` are the target's own numbers, where it was cut into classes.
    """

    problem: CodedProblem
    values: Values
    targets: Floats | None

    def take(self, rows: Ints) -> Part:
        """Give the same on some of the rows."""
        targets = None if self.targets is None else self.targets[rows]
        return Part(self.problem.take(rows), self.values[rows], targets)


@dataclass(frozen=True, eq=False)
class Ground:
    """All rows of a table to select from.

    `numbers` is (n_rows, n_features), or None where distances are taken on codes of equal width;
    `targets` are the target's own numbers, where it was cut into classes; `ordered` says of each
    feature whether its values lie on a scale.
    """

    table: Table
    numbers: Values | None
    targets: Floats | None
    ordered: Truths

    @classmethod
    def of(cls, columns: Mapping[str, Column], prepared: Prepared, how: Evaluate) -> Ground:
        """The ground that `how` asks for."""
        table, target = prepared.table, prepared.label
        ordered = np.array([column.kind == "continuous" for column in table.columns])
        numbers = targets = None
        if how.values == "raw":
            learnt = table.describe(table.learn("uniform"))
            values = [as_numbers(c, columns[c.name])[prepared.rows] for c in learnt]
            numbers = np.column_stack(values)
        if target.kind == "continuous":
            targets = as_numbers(target, columns[target.name])[prepared.rows]
        return cls(table, numbers, targets, ordered)

    def split(self, how: Evaluate, index: int) -> Split:
        """The same split for every method, whichever others are made."""
        table = self.table
        return stratified_split(
            table.labels, how.test_fraction, table.seed, index, table.row_weights
        )

    def parts(self, split: Split, recipe: Recipe) -> tuple[Part, Part]:
        """What is learnt on, and what it is held against, by what the former teaches."""
        even = self.table.take(split.train).learn("uniform")
        train, test = (
            Part(
                self.table.problem(recipe, rows),
                self._values(even, rows),
                None if self.targets is None else self.targets[rows],
            )
            for rows in (split.train, split.test)
        )
        return train, test

    def held_out(self, how: Evaluate) -> float:
        """Weight of the rows held out for each unit of weight to learn on."""
        split, weights = self.split(how, 0), self.table.weights
        return float(weights[split.test].sum() / weights[split.train].sum())

    def notes(self, how: Evaluate) -> tuple[str, ...]:
        """What limits the meaning of scores on these splits."""
        splits = [self.split(how, index) for index in range(how.n_splits)]
        values = self._values(self.table.learn("uniform"), np.arange(self.table.n_rows))
        return describe_splits(values, self.table.labels, splits)

    def _values(self, recipe: Recipe, rows: Ints) -> Values:
        """What distances between rows are taken on: numbers, or codes by a recipe."""
        if self.numbers is not None:
            numbers: Values = self.numbers[rows]
            return numbers
        return self.table.encode(recipe, rows)
