"""From values to pixels: straight scales with round ticks."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """A straight line from values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Where a value stands."""
        span = (self.high - self.low) or 1.0
        return self.start + (value - self.low) / span * (self.end - self.start)

    @property
    def length(self) -> float:
        """How many pixels it covers."""
        return abs(self.end - self.start)

    def ticks(self, about: int = 5) -> list[float]:
        """Round values inside the range: about so many, or about five where that is but one."""
        found = self._round_values(about)
        return found if len(found) > 1 else self._round_values(5)

    def _round_values(self, about: int) -> list[float]:
        step = round_step((self.high - self.low) or 1.0, about)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [i * step for i in range(first, last + 1)]


def round_step(span: float, about: int) -> float:
    """The step of 1, 2 or 5 times a power of ten that cuts `span` into about that many."""
    raw = span / max(about, 1)
    power: float = 10.0 ** math.floor(math.log10(raw))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)


def number(value: float) -> str:
    """For people: three digits that matter."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if 0.001 <= abs(value) < 1e6:
        digits = max(0, 2 - math.floor(math.log10(abs(value))))
        return f"{value:,.{digits}f}"
    return f"{value:.2e}"


def uncertain(value: float, error: float) -> str:
    """A value and two standard errors, as the bars of pictures show them, to two digits of them."""
    both = 2 * error
    digits = max(0, 1 - math.floor(math.log10(both))) if both > 0 else 3
    return f"{value:,.{digits}f} ± {both:,.{digits}f}"


def tick_label(value: float) -> str:
    """For an axis."""
    return f"{value:,.10g}" if abs(value) < 1e6 else f"{value:.3g}"
