"""Paths below a connection: which are plain, which match a pattern, and which stay inside."""

from __future__ import annotations

import re
from collections.abc import Iterable

WILD = re.compile(r"[*?\[]")
# Spellings of a separator or a dot, which some servers take for the thing itself.
ENCODED = re.compile(r"%(2f|5c|2e|00)", re.IGNORECASE)
ODD = re.compile(r"[\x00-\x1f\x7f\\]")


def is_safe(path: str) -> bool:
    """Whether a path names something below where it starts, in one spelling."""
    segments = path.split("/")
    return not (ODD.search(path) or ENCODED.search(path) or {"", ".", ".."} & set(segments))


def is_plain(path: str) -> bool:
    """Whether it is safe and no pattern."""
    return is_safe(path) and not WILD.search(path) and "%" not in path


def is_within(path: str, folders: Iterable[str]) -> bool:
    """Whether a path lies in one of the folders; the empty one holds everything."""
    return any(not folder or path == folder or path.startswith(f"{folder}/") for folder in folders)


def root_of(pattern: str) -> str:
    """The folder, or the file, that a pattern names before its first wildcard."""
    segments = pattern.split("/")
    wild = next((n for n, segment in enumerate(segments) if WILD.search(segment)), len(segments))
    return "/".join(segments[:wild])


def matcher(pattern: str) -> re.Pattern[str]:
    """Paths of a pattern: `*` and `?` stay in a segment, `**` is any number of segments."""
    parts = [_segment(segment) for segment in pattern.split("/")]
    return re.compile("".join(parts).removesuffix("/") + r"\Z")


def _segment(segment: str) -> str:
    if segment == "**":
        return r"(?:[^/]+/)*"
    pieces = re.split(r"(\*|\?|\[[^\]]+\])", segment)
    return "".join(_piece(piece) for piece in pieces) + "/"


def _piece(piece: str) -> str:
    if piece == "*":
        return "[^/]*"
    if piece == "?":
        return "[^/]"
    if piece.startswith("[") and piece.endswith("]"):
        inner = piece[1:-1].replace("\\", "").replace("[", r"\[")
        return f"[{'^' + inner[1:] if inner.startswith('!') else inner}]"
    return re.escape(piece)


def partitions(path: str) -> dict[str, str]:
    """The values that the folders of a path carry, as Hive writes them: `year=2026`."""
    found = (segment.partition("=") for segment in path.split("/")[:-1])
    return {name: value for name, equals, value in found if name and equals}
