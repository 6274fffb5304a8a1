"""Amounts of the few kinds of work that take nearly all the time of a run, and their price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, fields


@dataclass(frozen=True, kw_only=True)
class Work:
    """How often each kind of work is done.

    Attributes
    ----------
    calls : small calls of the interpreter, such as learning how to cut one column for one fold.
    sorts : values sorted, on the way to codes or to a score.
    counts : codes counted or rewritten.
    updates : cells times lanes that an iteration of EM visits.
    gains : levels times states times configurations, over which information is summed.
    distances : pairs of rows times columns.
    rotations : cubes of the size of a matrix whose spectrum is computed.

    """

    calls: float = 0.0
    sorts: float = 0.0
    counts: float = 0.0
    updates: float = 0.0
    gains: float = 0.0
    distances: float = 0.0
    rotations: float = 0.0

    def __add__(self, other: Work) -> Work:
        """Do both."""
        pairs = zip(KINDS, astuple(self), astuple(other), strict=True)
        return Work(**{kind: mine + its for kind, mine, its in pairs})

    def __mul__(self, times: float) -> Work:
        """Do it so many times."""
        return Work(**{kind: times * mine for kind, mine in zip(KINDS, astuple(self), strict=True)})


KINDS = tuple(kind.name for kind in fields(Work))

SERIAL = ("calls", "sorts")
"""What one thread does after the other; the rest is compiled, and shared by all threads."""

USUAL: Mapping[str, float] = {
    "calls": 30_000,
    "sorts": 100,
    "counts": 1.2,
    "updates": 0.35,
    "gains": 0.5,
    "distances": 0.3,
    "rotations": 0.16,
}
"""Nanoseconds on a core of a shared virtual machine."""


@dataclass(frozen=True)
class Speed:
    """Nanoseconds that each kind of work takes one thread, and how many threads a job has."""

    nanoseconds: Mapping[str, float] = field(default_factory=lambda: USUAL)
    n_threads: int = 1

    def seconds(self, work: Work) -> float:
        """By the wall clock, on a machine that does nothing else."""
        amounts: tuple[float, ...] = astuple(work)
        nanoseconds = sum(
            amount * self.nanoseconds[kind] / (1 if kind in SERIAL else self.n_threads)
            for kind, amount in zip(KINDS, amounts, strict=True)
        )
        return 1e-9 * nanoseconds
