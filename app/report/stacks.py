"""Bars that are cut into shares, one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.report.chart import (
    CHARACTER,
    PAPER,
    canvas,
    series_class,
    series_colour,
    shortened,
    text,
    told_apart,
)
from app.report.markup import joined, tag

ROW, LEGEND_ROW = 22.0, 18.0
KEY, GAP = 14.0, 16.0
MAX_NAME = 0.34  # of the width
LEGIBLE = 36.0  # the room that a share needs to be written into its bar


@dataclass(frozen=True, kw_only=True)
class Stack:
    """One bar: its shares sum to 1, `shown` stands behind it."""

    name: str
    shares: Sequence[float]
    shown: str


def stack_chart(
    title: str, parts: Sequence[tuple[str, int]], stacks: Sequence[Stack], width: float
) -> Markup:
    """Bars of one length; `parts` are what they are cut into, each with its colour."""
    legend, top = _legend(parts, width)
    left = min(MAX_NAME * width, max(len(s.name) for s in stacks) * CHARACTER * 1.05) + 16
    right = max(len(s.shown) for s in stacks) * CHARACTER * 1.05 + 12
    room = width - left - right
    names = told_apart([s.name for s in stacks], left - 12)
    rows = (
        _row(s, name, parts, top + i * ROW, left, room)
        for i, (s, name) in enumerate(zip(stacks, names, strict=True))
    )
    return canvas(title, width, top + len(stacks) * ROW + 4, legend, *rows)


def _legend(parts: Sequence[tuple[str, int]], width: float) -> tuple[Markup, float]:
    items, x, y = [], 6.0, 4.0
    for name, colour in parts:
        shown = shortened(name, 180)
        length = KEY + 4 + len(shown) * CHARACTER
        if x + length > width and x > 6:
            x, y = 6.0, y + LEGEND_ROW
        items.append(_cell(colour, x, y, 10.0, 10.0))
        items.append(text(shown, x + KEY, y + 10))
        x += length + GAP
    return joined(*items), y + LEGEND_ROW + 4


def _row(
    stack: Stack, name: str, parts: Sequence[tuple[str, int]], top: float, left: float, room: float
) -> Markup:
    line, x, cells = top + ROW / 2 + 4, left, []
    for (part, colour), share in zip(parts, stack.shares, strict=True):
        length = share * room
        note = f"{part}: {100 * share:.0f} % where {stack.name}, {stack.shown}"
        cells.append(tag("g", tag("title", note), *_share(share, colour, x, top + 3, length)))
        x += length
    return joined(
        tag(
            "g",
            tag("title", stack.name),
            text(name, left - 10, line, anchor="end"),
        ),
        *cells,
        text(stack.shown, left + room + 8, line, muted=True),
    )


def _share(share: float, colour: int, x: float, y: float, length: float) -> list[Markup]:
    cell = _cell(colour, x, y, length, ROW - 6)
    if length < LEGIBLE:
        return [cell]
    words = tag(
        "text",
        f"{100 * share:.0f} %",
        cls="on-bar",
        x=x + length / 2,
        y=y + ROW / 2 + 1,
        fill=PAPER,
        text_anchor="middle",
    )
    return [cell, words]


def _cell(colour: int, x: float, y: float, width: float, height: float) -> Markup:
    return tag(
        "rect",
        cls=f"bar {series_class(colour)}",
        x=x,
        y=y,
        width=max(width - 0.5, 0.0),
        height=height,
        fill=series_colour(colour),
    )
