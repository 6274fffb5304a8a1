"""A column of text: each text once, and for each row which one.

Fixed-width arrays would give every row as much room as the longest text takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.arrays import Ints, Truths
from core.data.deferred import Deferred

NO_TEXT = -1


@dataclass(frozen=True, eq=False)
class Texts:
    """The places (n_rows,) of the rows' texts in `vocabulary`, NO_TEXT where one is missing.

    The vocabulary is sorted and holds no text twice; a text of it need not occur.
    """

    places: NDArray[np.int32]
    vocabulary: Sequence[str]

    @classmethod
    def of(cls, values: Iterable[Any]) -> Texts:
        """The texts of values of any kind, none of them missing."""
        texts = [str(value) for value in values]
        vocabulary = sorted(set(texts))
        place = {text: i for i, text in enumerate(vocabulary)}
        return cls(np.fromiter(map(place.__getitem__, texts), np.int32, len(texts)), vocabulary)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.places)

    def __getitem__(self, rows: Ints | Truths | slice) -> Texts:
        """Some of the rows."""
        return Texts(self.places[rows], self.vocabulary)

    @property
    def present(self) -> Truths:
        """Which rows have a text."""
        present: Truths = self.places != NO_TEXT
        return present

    def count(self) -> tuple[NDArray[np.object_], Ints]:
        """The texts that occur, sorted, and how often each does."""
        counts = np.bincount(self.places[self.present], minlength=len(self.vocabulary))
        texts = [text for text, n in zip(self.vocabulary, counts, strict=True) if n]
        return np.array(texts, dtype=object), counts[counts > 0]


Column = ArrayLike | Texts | Deferred
"""What a caller may hand over as a column."""
