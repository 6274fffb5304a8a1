"""A chart: a picture that stands on its own, and the data it shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from markupsafe import Markup

from app.report.markup import tag

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
# As drawn for a page, and for a telephone, on which letters would become too small.
WIDTH, NARROW = 640.0, 400.0
TEXT_SIZE = 12
CHARACTER = 0.56 * TEXT_SIZE
WORDS = re.compile(r".*[\W_]", re.DOTALL)  # to the end of the last whole one

# Written into the picture as attributes, so that a downloaded file looks right by itself; the
# page and the report restyle the same classes for light and dark with charts.css.
INK, MUTED, GRID, PAPER = "#1d2329", "#67717c", "#e4e7ea", "#ffffff"
SERIES = (
    "#1b6e8c",
    "#ab6013",
    "#517f47",
    "#8b5aa3",
    "#b9475b",
    "#4f6db3",
    "#82711c",
    "#6f7780",
)


@dataclass(frozen=True, kw_only=True)
class Chart:
    """`caption` says what to see, `draw` shows it; `columns` and `rows` are the data.

    Charts of one part that have a `measure` are looked at one measure at a time.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[float], Markup]
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    measure: str | None = None

    def to_json(self) -> Mapping[str, Any]:
        """As the API answers it."""
        return {
            "name": self.name,
            "title": self.title,
            "caption": self.caption,
            "svg": self.draw(WIDTH),
            "narrow_svg": self.draw(NARROW),
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "measure": self.measure,
        }


def canvas(title: str, width: float, height: float, *children: str) -> Markup:
    """The picture's frame, with a name for those who cannot see it."""
    paper = tag("rect", cls="paper", width=width, height=height, fill=PAPER)
    return tag(
        "svg",
        tag("title", title),
        paper,
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:g} {height:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        role="img",
        font_family=FONT,
        font_size=TEXT_SIZE,
    )


def text(words: str, x: float, y: float, *, anchor: str = "start", muted: bool = False) -> Markup:
    """One line of text."""
    colour = MUTED if muted else INK
    cls = "muted" if muted else "ink"
    return tag("text", words, cls=cls, x=x, y=y, fill=colour, text_anchor=anchor)


def label(words: str, x: float, y: float, *, anchor: str) -> Markup:
    """One line of text upon lines, which end around it."""
    around = {"stroke": PAPER, "stroke_width": 3, "stroke_linejoin": "round"}
    return tag(
        "text", words, cls="label", x=x, y=y, fill=MUTED, text_anchor=anchor,
        paint_order="stroke", **around,
    )  # fmt: skip


def line(
    cls: str, colour: str, x: tuple[float, float], y: tuple[float, float], **more: object
) -> Markup:
    """One straight line; `x` and `y` are where it begins and ends."""
    return tag("line", cls=cls, x1=x[0], x2=x[1], y1=y[0], y2=y[1], stroke=colour, **more)


def shortened(name: str, pixels: float) -> str:
    """As much of a name as fits, about."""
    room = _room(pixels)
    return name if len(name) <= room else f"{name[: room - 1]}…"


def told_apart(names: Sequence[str], pixels: float) -> list[str]:
    """Names as far as they fit; those that would look alike are shown from where they differ."""
    begin_alike: dict[str, set[str]] = {}
    for name in names:
        begin_alike.setdefault(shortened(name, pixels), set()).add(name)
    return [_from_difference(name, begin_alike[shortened(name, pixels)], pixels) for name in names]


def _from_difference(name: str, alike: set[str], pixels: float) -> str:
    if len(alike) == 1:
        return shortened(name, pixels)
    pairs = zip(min(alike), max(alike), strict=False)
    common = "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    words = WORDS.match(common)
    start = words.end() if words else 0
    is_far = len(common) - start > _room(pixels) / 2
    return shortened(f"…{name[len(common) if is_far else start :]}", pixels)


def _room(pixels: float) -> int:
    return max(3, int(pixels / CHARACTER))


def series_class(index: int) -> str:
    """The class that gives a series its colour."""
    return f"s{index % len(SERIES) + 1}"


def series_colour(index: int) -> str:
    """The colour of a series in a file by itself."""
    return SERIES[index % len(SERIES)]
