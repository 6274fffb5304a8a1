"""How long a job will still take: what was expected of each phase, by how the first ones went."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import exp

from core.results.selection import Decided, Phase, Progress

Foresee = Callable[[Decided | None], Mapping[Phase, float]]
"""Seconds that are expected of each phase, in order, by what is decided so far."""

PRIOR = 0.1
"""What is expected before anything is seen counts like so much of the whole, gone as expected."""

PHASE_PRIOR = 0.3
"""And of a phase, gone at the pace of those before."""

TRUSTED = 0.7
"""Up to this share of what a phase was expected to do, that much counts as done."""


class Forecast:
    """Follows a run through its phases.

    A phase that another attempt had completed is not seen, and says nothing about the pace. One
    that had less to do than expected says as much as it did.
    """

    def __init__(self, foresee: Foresee) -> None:
        self._foresee = foresee
        self._expected = dict(foresee(None))
        self._spent = 0.0
        self._gone = 0.0
        self._phase: Phase | None = None
        self._since = 0.0
        self._within = 0.0
        self._whole = 1.0
        self._progress = 0.0

    def hear(self, progress: Progress, now: float) -> None:
        """Take in what a run tells."""
        self.note(progress.phase, progress.within, now)
        if progress.decided is not None:
            self.decide(progress.decided)

    def note(self, phase: Phase, within: float, now: float) -> None:
        """A phase has done so much of what was expected of it."""
        if phase not in self._expected:
            return
        if phase != self._phase:
            self._spent += self._in_phase(now)
            self._gone += self._seen
            self._phase, self._since, self._within, self._whole = phase, now, 0.0, 1.0
        self._within = max(self._within, within)

    def decide(self, decided: Decided) -> None:
        """From here on the phases are better known; what lies behind took what it did."""
        phases = list(self._expected)
        later = phases.index(self._phase) + (self._within > 0) if self._phase else 0
        known = self._foresee(decided)
        self._expected |= {phase: known[phase] for phase in phases[later:]}
        if self._phase == "rank":
            self._whole = decided.searched

    @property
    def _total(self) -> float:
        return sum(self._expected.values())

    @property
    def progress(self) -> float:
        """The share of all seconds that lies behind, whoever spent them; it never shrinks."""
        if self._phase and (total := self._total):
            behind = total - self._left_of_phase - self._later
            self._progress = max(self._progress, behind / total)
        return self._progress

    def seconds_left(self, now: float) -> float | None:
        """What is expected of the rest, as much dearer as what was seen has been."""
        if self._phase is None:
            return None
        prior = PRIOR * self._total
        spent, seen = self._in_phase(now), self._seen
        pace = (self._spent + spent + prior) / (self._gone + seen + prior)
        prior = PHASE_PRIOR * self._expected[self._phase]
        own_pace = (spent + prior * pace) / (seen + prior) if prior else pace
        return own_pace * self._left_of_phase + pace * self._later

    def _in_phase(self, now: float) -> float:
        return now - self._since if self._phase else 0.0

    @property
    def _seen(self) -> float:
        """Seconds that were expected of what the phase has done."""
        return self._within * self._expected[self._phase] if self._phase else 0.0

    @property
    def _left_of_phase(self) -> float:
        if self._phase is None:
            return 0.0
        left = 1 - approach(self._within / self._whole)
        return left * self._whole * self._expected[self._phase]

    @property
    def _later(self) -> float:
        phases = list(self._expected)
        later = phases[phases.index(self._phase) + 1 :] if self._phase else phases
        return sum(self._expected[phase] for phase in later)


def approach(share: float) -> float:
    """A fraction that never ends, from the share of what is expected: that may be too little."""
    if share < TRUSTED:
        return share
    rest = 1 - TRUSTED
    return 1 - rest * exp(-(share - TRUSTED) / rest)
