"""Choosing among media types by the header `Accept`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Header

from app.errors import NotAcceptable

JSON = "application/json"
Accept = Annotated[str | None, Header()]


def preferred(accept: str | None, offered: Sequence[str]) -> str:
    """The offered type that the caller likes best; the first one for a caller without a wish."""
    if not accept:
        return offered[0]
    liked = {media_type: _quality(accept, media_type) for media_type in offered}
    best = max(offered, key=lambda media_type: liked[media_type])
    if liked[best] == 0:
        raise NotAcceptable(f"this can be had as {', '.join(offered)}, not as {accept!r}")
    return best


def qualities(accepted: str) -> dict[str, float]:
    """What a header says it likes, and how much."""
    return dict(map(_parse, accepted.split(",")))


def _quality(accept: str, media_type: str) -> float:
    kind = media_type.partition("/")[0]
    found = qualities(accept)
    for name in (media_type, f"{kind}/*", "*/*"):
        if name in found:
            return found[name]
    return 0.0


def _parse(item: str) -> tuple[str, float]:
    name, *parameters = (part.strip() for part in item.split(";"))
    quality = next((p[2:] for p in parameters if p.startswith("q=")), "1")
    try:
        return name.lower(), float(quality)
    except ValueError:
        return name.lower(), 0.0
