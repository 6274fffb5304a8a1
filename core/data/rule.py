"""How a column is to be taken: what it is, and how finely it is cut."""

from __future__ import annotations

from dataclasses import dataclass

from core.arrays import Values
from core.budgets import DISCRETE_LEVELS
from core.config import Discretize, Kind
from core.data.texts import Texts
from core.errors import InvalidData

CLASS_LEVELS = 30
"""Like DISCRETE_LEVELS, for the target: labels with up to this many whole numbers are classes."""

GLANCE = 1000
"""Values of a column that mostly tell already what it is."""


@dataclass(frozen=True)
class Rule:
    """By the caller's word, or else by whether whole numbers have at most `few` different values.

    Equal shares come before equal widths where they are wanted; rare levels are merged or not.
    """

    name: str
    kind: Kind | None
    few: int
    bins: int
    shares_first: bool
    merge_rare: bool

    @classmethod
    def of(cls, name: str, discretize: Discretize, *, is_target: bool) -> Rule:
        """Of one column, which may be the target."""
        return cls(
            name=name,
            kind=discretize.kinds.get(name),
            few=CLASS_LEVELS if is_target else DISCRETE_LEVELS,
            bins=discretize.target_bins if is_target else discretize.bins,
            shares_first=is_target or discretize.strategy == "quantile",
            merge_rare=not is_target,
        )

    def numbers(self, known: Values | Texts) -> Values:
        """The same values, which are to be cut."""
        if isinstance(known, Texts):
            detail = f"column {self.name!r} holds text and cannot be continuous"
            raise InvalidData(detail, self.name)
        return known
