"""The chosen pixels, for data whose columns are the pixels of an image."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from app.report.chart import Chart
from app.report.grids import pixels

MIN_PIXELS = 16
NUMBERED = re.compile(r"^(?:pixel|pix|px|p|v|x|f|att|attr|column)?[ _.-]?(\d+)$", re.I)


def pixel_chart(document: Mapping[str, Any], width: int | None) -> Chart | None:
    """Drawn when a width is given, or when the columns look like the pixels of a square image."""
    names = [f["name"] for part in ("selected", "left_out", "dropped") for f in document[part]]
    places = place_pixels(names)
    width = width or square_width(places, names)
    if not width or not document["selected"]:
        return None
    n_pixels = max(places.values()) + 1
    chosen = {places[f["name"]]: f["rank"] for f in document["selected"]}
    title = "The chosen pixels"
    return Chart(
        name="pixels",
        title=title,
        caption=f"An image {width} pixels wide; the stronger, the earlier a pixel was chosen.",
        draw=partial(pixels, title, width, n_pixels, chosen),
        columns=["rank", "name", "row", "column"],
        rows=[
            [f["rank"], f["name"], *(i + 1 for i in divmod(places[f["name"]], width))]
            for f in document["selected"]
        ],
    )


def place_pixels(names: Sequence[str]) -> dict[str, int]:
    """Where each column stands: by the number in its name if all have one, else in their order."""
    numbers = [match and int(match[1]) for match in map(NUMBERED.match, names)]
    known = [n for n in numbers if n is not None]
    if len(set(known)) < len(names) or max(known, default=0) >= 4 * len(names) + 2:
        return {name: i for i, name in enumerate(names)}
    first = min(known)
    return {name: n - first for name, n in zip(names, known, strict=True)}


def square_width(places: Mapping[str, int], names: Sequence[str]) -> int | None:
    """The width of the square that numbered columns fill, if they fill one."""
    side = math.isqrt(len(names))
    numbered = len(names) >= MIN_PIXELS and all(map(NUMBERED.match, names))
    fills = numbered and side * side == len(names) == max(places.values()) + 1
    return side if fills else None
