"""Horizontal bars, one below the other, each with its name and value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.report.chart import (
    CHARACTER,
    canvas,
    series_class,
    series_colour,
    text,
    told_apart,
)
from app.report.markup import tag
from app.report.scales import Scale

ROW, DENSE_ROW = 22.0, 16.0
DENSE_FROM = 25
MAX_NAME = 0.46  # of the width


@dataclass(frozen=True, kw_only=True)
class Bar:
    """`shown` stands behind the bar, `note` says more when asked; `series` gives the colour.

    `rank` stands before the name, whatever of that fits.
    """

    name: str
    value: float
    shown: str
    note: str = ""
    series: int = 0
    rank: int | None = None

    @property
    def lead(self) -> str:
        """What is never shortened."""
        return "" if self.rank is None else f"{self.rank}  "


def bar_chart(title: str, bars: Sequence[Bar], width: float) -> Markup:
    """Bars from a common zero line; negative values are drawn as nothing, and named."""
    height = ROW if len(bars) < DENSE_FROM else DENSE_ROW
    left = min(MAX_NAME * width, _longest(bars)) + 20
    right = max(len(bar.shown) for bar in bars) * CHARACTER * 1.05 + 16
    largest = max(*(bar.value for bar in bars), 1e-12)
    scale = Scale(0, largest, 0, width - left - right)
    lead = max(len(bar.lead) for bar in bars) * CHARACTER
    names = told_apart([bar.name for bar in bars], left - 12 - lead)
    rows = (
        _row(bar, f"{bar.lead}{name}", i * height + 4, height, left, scale)
        for i, (bar, name) in enumerate(zip(bars, names, strict=True))
    )
    return canvas(title, width, len(bars) * height + 8, *rows)


def _longest(bars: Sequence[Bar]) -> float:
    return max(len(bar.lead) + len(bar.name) for bar in bars) * CHARACTER * 1.05


def _row(bar: Bar, name: str, top: float, height: float, left: float, scale: Scale) -> Markup:
    length = max(scale(max(bar.value, 0)), 1.0)
    line = top + height / 2 + 4
    return tag(
        "g",
        tag("title", bar.note or f"{bar.name}: {bar.shown}"),
        text(name, left - 10, line, anchor="end"),
        tag(
            "rect",
            cls=f"bar {series_class(bar.series)}",
            x=left,
            y=top + 3,
            width=length,
            height=height - 6,
            rx=2,
            fill=series_colour(bar.series),
        ),
        text(bar.shown, left + length + 8, line, muted=True),
    )
