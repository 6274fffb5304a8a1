"""Building SVG and HTML without ever trusting a name: text is escaped unless it was built here."""

from __future__ import annotations

from html import escape


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: object) -> Markup:
    """One element; `cls` is its class, other underscores become hyphens, None is left out."""
    given = "".join(
        f' {_attribute(key)}="{escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{given}>{joined(*children)}</{name}>")


def joined(*children: str) -> Markup:
    """Children side by side."""
    return Markup("".join(c if isinstance(c, Markup) else escape(c) for c in children))


def _attribute(key: str) -> str:
    return "class" if key == "cls" else key.replace("_", "-")


def _plain(value: object) -> str:
    """A coordinate needs no more than a hundredth of a pixel."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
