"""A world: how rows are drawn, and which of their columns tell about the label."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from core.arrays import Values

Rng = np.random.Generator
Table = dict[str, Values]

TARGET = "y"
_FRESH = 1
"""Sets the random numbers of fresh rows apart from those of the rows that are learnt from."""


@dataclass(frozen=True)
class World:
    """How rows are drawn, how many there are to learn from, and what is relevant."""

    n_rows: int
    draw: Callable[[Rng, int], Table]
    groups: tuple[frozenset[str], ...] = ()

    def table(self, seed: int, n_rows: int | None = None) -> Table:
        """The rows to learn from; the columns in an order that favours none of them."""
        rng = np.random.default_rng(seed)
        drawn = self.draw(rng, n_rows or self.n_rows)
        names = rng.permutation([name for name in drawn if name != TARGET])
        return {str(name): drawn[name] for name in names} | {TARGET: drawn[TARGET]}

    def fresh(self, seed: int, n_rows: int) -> Table:
        """Rows of the same world that nobody has learnt from."""
        return self.draw(np.random.default_rng([seed, _FRESH]), n_rows)

    def false_share(self, chosen: Iterable[str]) -> float:
        """The share of noise among what was chosen; 0 when nothing was."""
        relevant = frozenset().union(*self.groups)
        wrong = [name not in relevant for name in chosen]
        return sum(wrong) / max(len(wrong), 1)

    def found(self, chosen: Iterable[str]) -> float:
        """The share of relevant groups that were found; on pure noise 1 when nothing was chosen."""
        names = set(chosen)
        if not self.groups:
            return float(not names)
        return sum(not names.isdisjoint(group) for group in self.groups) / len(self.groups)


def each(*names: str) -> tuple[frozenset[str], ...]:
    """Every name a group of its own."""
    return tuple(frozenset([name]) for name in names)
