"""Grids of cells: heat maps of probabilities, and pixels in their order of choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.report.chart import GRID, PAPER, SERIES, canvas, text, told_apart
from app.report.markup import joined, tag

CELL_HEIGHT = 15.0
GAP = 8.0
LABEL_ROOM = 0.2  # of the width, for names and again for levels
TOP = 26.0


@dataclass(frozen=True, kw_only=True)
class Block:
    """One variable of a heat map: a row for each level, a share from 0 to 1 for each column."""

    name: str
    levels: Sequence[str]
    shares: Sequence[Sequence[float]]


def heat_map(
    title: str, columns: Sequence[str], blocks: Sequence[Block], x: str, width: float
) -> Markup:
    """Blocks below each other; the darker a cell, the larger its share."""
    left = 2 * LABEL_ROOM * width
    cell = min(44.0, (width - left - 8) / max(len(columns), 1))
    parts, top = [text(x, left, 14, muted=True)], TOP
    names = told_apart([block.name for block in blocks], left / 2 - 12)
    for block, name in zip(blocks, names, strict=True):
        parts.append(_block(block, name, columns, left, top, cell))
        top += len(block.levels) * CELL_HEIGHT + GAP
    return canvas(title, width, top, *parts)


def _block(
    block: Block, name: str, columns: Sequence[str], left: float, top: float, width: float
) -> Markup:
    levels = told_apart(block.levels, left / 2 - 10)
    rows = [
        joined(
            text(level, left - 8, top + i * CELL_HEIGHT + 11, anchor="end", muted=True),
            _cells(block, columns, i, left, top + i * CELL_HEIGHT, width),
        )
        for i, level in enumerate(levels)
    ]
    return joined(tag("g", tag("title", block.name), text(name, 4, top + 11)), *rows)


def _cells(
    block: Block, columns: Sequence[str], row: int, left: float, top: float, width: float
) -> Markup:
    cells = (
        tag(
            "rect",
            tag("title", f"{block.name} {block.levels[row]}, {column}: {share:.0%}"),
            x=left + i * width,
            y=top,
            width=width - 1,
            height=CELL_HEIGHT - 1,
            fill_opacity=round(0.05 + 0.95 * share, 2),
        )
        for i, (column, share) in enumerate(zip(columns, block.shares[row], strict=True))
    )
    return tag("g", *cells, cls="bar s1", fill=SERIES[0])


def pixels(title: str, width: int, n_pixels: int, ranks: Mapping[int, int], room: float) -> Markup:
    """The picture's grid; the chosen pixels stand out, the first ones most."""
    height = -(-n_pixels // width)
    size = min(28.0, min(420.0, room) / max(width, height))
    n_chosen = max(len(ranks), 1)
    frame = tag(
        "rect",
        cls="pixels",
        x=1,
        y=1,
        width=width * size,
        height=height * size,
        fill=PAPER,
        stroke=GRID,
    )
    cells = (
        tag(
            "rect",
            tag("title", f"row {index // width + 1}, column {index % width + 1}: rank {rank}"),
            cls="bar s1",
            x=1 + index % width * size,
            y=1 + index // width * size,
            width=size - 0.5,
            height=size - 0.5,
            fill=SERIES[0],
            fill_opacity=round(1 - 0.7 * (rank - 1) / n_chosen, 2),
        )
        for index, rank in ranks.items()
    )
    lines = _raster(width, height, size)
    return canvas(title, max(width * size + 2, 120.0), height * size + 2, frame, lines, *cells)


def _raster(width: int, height: int, size: float) -> Markup:
    across = (f"M1 {1 + i * size:.1f}H{1 + width * size:.1f}" for i in range(1, height))
    down = (f"M{1 + i * size:.1f} 1V{1 + height * size:.1f}" for i in range(1, width))
    return tag(
        "path", cls="grid", d="".join([*across, *down]), stroke=GRID, stroke_width=0.5, fill="none"
    )
