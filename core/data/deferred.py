"""A column that is read when somebody looks at it: a table need never be held as numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from core.data.texts import Texts
    from core.data.times import TimePart


@dataclass(frozen=True, eq=False)
class Deferred:
    """So many rows, of moments or of something else; `read(first, last)` gives some of them.

    It does so each time anew, always of the same type. They may be a `part` of the moments of
    another column.
    """

    n_rows: int
    is_time: bool
    read: Callable[[int, int], ArrayLike | Texts]
    part: TimePart | None = None

    def __len__(self) -> int:
        """How many rows there are."""
        return self.n_rows


def at_hand(values: Any) -> Any:
    """The values themselves, of all rows."""
    return values.read(0, values.n_rows) if isinstance(values, Deferred) else values
