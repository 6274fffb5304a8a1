"""Information about the label in a whole set of features, from its distinct patterns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.arrays import MISSING, Floats, Ints, Values
from core.callbacks import OnFraction
from core.rivals import _set_kernels
from core.rivals._set_kernels import Patterns, Rows
from core.rivals.progress import StepProgress
from core.rivals.whole import ColumnBlock, WholeColumns, tasks
from core.workers import Workers


@dataclass(frozen=True, eq=False)
class Segments:
    """Asks for the weight of the rows times I(X;Y|X_S), by their order as kernels have it."""

    rows: Rows
    starts: Rows

    def __call__(
        self, block: ColumnBlock, places: Ints, workers: Workers, on_done: OnFraction
    ) -> list[float]:
        """Go through the segments once for each feature."""
        found, of = np.empty(len(places)), block.rows
        fixed = (of.labels, of.n_classes, self.rows, self.starts, of.weights, of.log)

        def inform(task: Ints) -> None:
            columns, levels = block.codes[places[task]], block.levels[places[task]]
            found[task] = _set_kernels.inform_segments(columns, levels, *fixed)

        workers.run(inform, tasks(len(places), len(self.rows)), on_done)
        return found.tolist()


@dataclass(frozen=True, eq=False)
class Subsets:
    """Asks for I(P,X;Y); pattern : (n_rows,) P of each row, negative where it is missing."""

    pattern: Values
    n_patterns: int

    def __call__(
        self, block: ColumnBlock, places: Ints, workers: Workers, on_done: OnFraction
    ) -> list[float]:
        """Count the patterns of each feature."""
        found, of, n_patterns = np.empty(len(places)), block.rows, self.n_patterns
        pattern = self.pattern.astype(np.int32, copy=False)
        fixed = (of.labels, of.n_classes, of.weights, of.x_log_x)

        def inform(task: Ints) -> None:
            columns, levels = block.codes[places[task]], block.levels[places[task]]
            found[task] = _set_kernels.inform_subsets(pattern, n_patterns, columns, levels, *fixed)

        workers.run(inform, tasks(len(places), len(pattern)), on_done)
        return found.tolist()


class SetInformation:
    """How much each feature adds to the chosen set; rows that miss one of the chosen are left out.

    Weights are counts: the total weight takes the place of the number of rows.
    """

    def __init__(self, columns: WholeColumns, levels: Ints, progress: StepProgress) -> None:
        self._columns, self._levels, self._progress = columns, levels, progress
        self._pattern = np.zeros(columns.rows.n_rows, dtype=np.int32)
        self._n_patterns = 1
        self.n_chosen, self.n_configurations = 0, 1.0

    def gains(self, features: Ints) -> Floats:
        """Give twice the total weight times I(X;Y|X_S), over the rows where X is present too."""
        of = self._columns.rows
        sorted_rows = _set_kernels.sort_by_pattern(
            self._pattern, self._n_patterns, of.labels, of.weights
        )
        asked = Segments(*sorted_rows)
        return 2.0 * np.array(self._columns.ask(features, asked, self._progress.inside))

    def add(self, feature: int) -> None:
        """Put `feature` into the set."""
        codes, n_levels = self._columns.column(feature), int(self._levels[feature])
        old = self._pattern, self._n_patterns
        self._pattern, distinct = _set_kernels.split(*old, codes, n_levels)
        self._n_patterns = len(distinct)
        self.n_chosen += 1
        self.n_configurations *= n_levels

    def joint(self, prefix: tuple[int, ...], features: Ints) -> Floats:
        """Give I(X_P,X;Y) of each feature X together with the chosen set and the prefix P."""
        pattern, n_patterns = self._extend(prefix)
        asked = Subsets(small(pattern, n_patterns), n_patterns)
        return np.array(self._columns.ask(features, asked, lambda _: self._progress.inside(0.0)))

    def _extend(self, prefix: tuple[int, ...]) -> tuple[Patterns, int]:
        pattern, n_patterns = self._pattern, self._n_patterns
        for feature in prefix:
            codes, n_levels = self._columns.column(feature), int(self._levels[feature])
            missing = (codes == MISSING) | (pattern < 0)
            pattern = np.where(missing, -1, pattern * n_levels + codes)
            n_patterns *= n_levels
        return pattern, n_patterns


def small(pattern: Patterns, n_patterns: int) -> Values:
    """In the smallest type that holds it, to be sent."""
    return pattern.astype(np.min_scalar_type(-max(n_patterns, 1)), copy=False)
