"""Text as every database takes it: without NUL, and without halves of characters.

Postgres refuses both, in a row as in a document, and what is refused when a job ends would be
computed again. Requests are checked at the door; this stands behind all other ways to a row.
"""

from __future__ import annotations

import json
import re
from typing import Any

from sqlalchemy import Dialect, String, Text, TypeDecorator

_REFUSED = re.compile("[\x00\ud800-\udfff]")
# What an ASCII document has wherever its text may have one of those, and not only there.
_HINTS = ("\\u0000", "\\ud")


def keepable(text: str) -> str:
    """The same text, with a mark in place of what no row can hold."""
    return _REFUSED.sub("\N{REPLACEMENT CHARACTER}", text)


def keepable_json(value: Any) -> str:
    """A document for a row."""
    document = json.dumps(value)
    if any(hint in document for hint in _HINTS):
        return json.dumps(_clean(value))
    return document


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return keepable(value)
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value


class Line(TypeDecorator[str]):
    """Text of at most so many characters."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """On its way to a row, or to be compared with one."""
        return None if value is None else keepable(value)


class Words(Line):
    """Text of any length."""

    impl = Text
    cache_ok = True
