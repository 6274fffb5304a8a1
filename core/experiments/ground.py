"""What trials are held on: the same rows, splits and values for every method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.arrays import Floats, Ints, Truths, Values
from core.config import Evaluate
from core.data.encoding import as_numbers
from core.data.preparation import Prepared
from core.data.problem import CodedProblem
from core.data.resampling import Split, stratified_split
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
    """All rows; `ordered` says of each feature whether its values lie on a scale."""

    whole: Part
    ordered: Truths

    @classmethod
    def of(cls, columns: Mapping[str, Column], prepared: Prepared, how: Evaluate) -> Ground:
        """The ground that `how` asks for."""
        *features, target = prepared.encoding
        ordered = np.array([column.kind == "continuous" for column in features])
        values: Values = prepared.problem.codes
        if how.values == "raw":
            numbers = [as_numbers(c, columns[c.name])[prepared.rows] for c in features]
            values = np.column_stack(numbers)
        targets = None
        if target.kind == "continuous":
            targets = as_numbers(target, columns[target.name])[prepared.rows]
        return cls(Part(prepared.problem, values, targets), ordered)

    @property
    def problem(self) -> CodedProblem:
        """The codes of all rows, to select from."""
        return self.whole.problem

    def split(self, how: Evaluate, index: int) -> Split:
        """The same split for every method, whichever others are made."""
        problem = self.problem
        return stratified_split(
            problem.labels, how.test_fraction, problem.seed, index, problem.row_weights
        )

    def parts(self, how: Evaluate, index: int) -> tuple[Part, Part]:
        """What is chosen and learnt on, and what it is held against."""
        split = self.split(how, index)
        return self.whole.take(split.train), self.whole.take(split.test)

    def held_out(self, how: Evaluate) -> float:
        """Weight of the rows held out for each unit of weight to learn on."""
        split, weights = self.split(how, 0), self.problem.weights
        return float(weights[split.test].sum() / weights[split.train].sum())

    def notes(self, how: Evaluate) -> tuple[str, ...]:
        """What limits the meaning of scores on these splits."""
        splits = [self.split(how, index) for index in range(how.n_splits)]
        return describe_splits(self.whole.values, self.problem.labels, splits)
