"""Building SVG and HTML without ever trusting a name: text is escaped unless it is markup."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def tag(name: str, *children: str, **attributes: object) -> Markup:
    """One element; `cls` is its class, other underscores become hyphens, None is left out."""
    given = "".join(
        f' {_attribute(key)}="{escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{given}>{joined(*children)}</{name}>")  # noqa: S704  parts are escaped


def joined(*children: str) -> Markup:
    """Children side by side."""
    return Markup().join(map(_legal, children))


def _legal(text: str) -> str:
    """Without characters that no XML may hold; values of columns do."""
    return text if isinstance(text, Markup) else ILLEGAL.sub("\ufffd", text)


def _attribute(key: str) -> str:
    return "class" if key == "cls" else key.replace("_", "-")


def _plain(value: object) -> str:
    """A coordinate needs no more than a hundredth of a pixel."""
    return (
        f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else _legal(str(value))
    )
