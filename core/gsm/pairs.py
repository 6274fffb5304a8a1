"""What was counted of pairs of columns, so that no search over the same rows counts it again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.arrays import Floats, Ints

MOST_PAIRS = 2**19
"""Of one table of them; where columns are so many, few of them are asked for twice."""

FIRST_ROWS = 16


class Pairs:
    """Values (n_rows, n_each, N) of every column beside some, NaN where nobody asked."""

    def __init__(self, n_columns: int, n_each: int = 1) -> None:
        self._rows: dict[int, int] = {}
        self._most = MOST_PAIRS // max(n_columns, 1)
        self.values: Floats = np.full((min(FIRST_ROWS, self._most), n_each, n_columns), np.nan)

    def rows_of(self, columns: Sequence[int]) -> Ints:
        """The row of each column beside which others stand; -1 if there is no room for it."""
        for column in columns:
            if column not in self._rows and len(self._rows) < self._most:
                self._rows[column] = len(self._rows)
        while len(self._rows) > len(self.values):
            more = min(len(self.values), self._most - len(self.values))
            self.values = np.vstack([self.values, np.full_like(self.values[:more], np.nan)])
        return np.array([self._rows.get(column, -1) for column in columns], dtype=np.int64)
