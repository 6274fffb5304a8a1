"""What explains a choice beside its figures: rows behind levels, and columns that tell the same."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class LevelCounts:
    """Rows, by their weights, of a chosen feature: (n_levels, C), and (C,) where it is missing.

    Levels and classes are in the order of the encoding; a level of its own is not missing.
    """

    name: str
    counts: tuple[tuple[float, ...], ...]
    missing: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Join:
    """Two columns, or sets of them joined before, that tell the same by so large a share.

    Numbers below that of the columns are columns, the next is the first join, and so on.
    """

    left: int
    right: int
    share: float


@dataclass(frozen=True, kw_only=True)
class Alike:
    """Which columns could stand in for each other: joined, the most alike first.

    The share is what two columns tell alike about the label, of what the better one tells, under
    the fitted model; of sets it is the mean. `columns` are in such an order that those joined stand
    side by side; `groups` are those that share at least half.
    """

    columns: tuple[str, ...]
    joins: tuple[Join, ...]
    groups: tuple[tuple[str, ...], ...]
