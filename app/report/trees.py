"""A tree of names that are joined, those that have most in common first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from app.report.chart import CHARACTER, GRID, INK, SERIES, canvas, line, text, told_apart
from app.report.markup import joined, tag
from app.report.scales import Scale

ROW = 19.0
BOTTOM = 40.0
MAX_NAME = 0.42  # of the width
TICKS = (1.0, 0.75, 0.5, 0.25, 0.0)


def tree_chart(
    title: str,
    names: Sequence[tuple[str, int | None]],
    joins: Sequence[Mapping[str, Any]],
    cut: float,
    x: str,
    width: float,
) -> Markup:
    """Names at the left, those with a rank stand out; a join stands where the share is its own."""
    leads = ["" if rank is None else f"{rank}. " for _, rank in names]
    longest = max(len(lead) + len(name) for lead, (name, _) in zip(leads, names, strict=True))
    left = min(MAX_NAME * width, longest * CHARACTER * 1.05) + 18
    room = left - 20 - max(map(len, leads)) * CHARACTER
    shown = told_apart([name for name, _ in names], room)
    scale, bottom = Scale(1.0, 0.0, left, width - 24), len(names) * ROW + 6
    return canvas(
        title,
        width,
        bottom + BOTTOM,
        _axis(scale, bottom, x),
        line("mark", INK, (scale(cut),) * 2, (2, bottom), stroke_dasharray="2 3"),
        *(
            _name(name, f"{leads[i]}{shown[i]}", i, left, is_marked=rank is not None)
            for i, (name, rank) in enumerate(names)
        ),
        *_branches(len(names), joins, scale),
    )


def _axis(scale: Scale, bottom: float, x: str) -> Markup:
    marks = []
    for share in TICKS:
        at = scale(share)
        marks.append(line("grid", GRID, (at, at), (2, bottom)))
        marks.append(text(f"{100 * share:.0f} %", at, bottom + 16, anchor="middle", muted=True))
    middle = (scale.start + scale.end) / 2
    return joined(*marks, text(x, middle, bottom + 34, anchor="middle", muted=True))


def _name(name: str, shown: str, place: int, left: float, *, is_marked: bool) -> Markup:
    words = text(shown, left - 12, _y(place) + 4, anchor="end", muted=not is_marked)
    dot = tag("circle", cls="dot s1", cx=left - 4, cy=_y(place), r=3, fill=SERIES[0])
    return tag("g", tag("title", name), words, *([dot] if is_marked else []))


def _y(place: float) -> float:
    return 4 + (place + 0.5) * ROW


def _branches(n_names: int, joins: Sequence[Mapping[str, Any]], scale: Scale) -> list[Markup]:
    """Each join as a bracket; the middle of its two parts is where the next one begins."""
    places = [(scale(1.0), _y(i)) for i in range(n_names)]
    brackets = []
    for join in joins:
        (x1, y1), (x2, y2) = places[join["left"]], places[join["right"]]
        at = max(scale(join["share"]), x1, x2)
        places.append((at, (y1 + y2) / 2))
        path = f"M{x1:.1f} {y1:.1f}H{at:.1f}V{y2:.1f}H{x2:.1f}"
        note = tag("title", f"{100 * join['share']:.0f} % of what they tell is the same")
        drawn = tag(
            "path", note, cls="line s1", d=path, fill="none", stroke=SERIES[0], stroke_width=1.5
        )
        brackets.append(drawn)
    return brackets
