"""How the texts of one column are to be understood."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import polars as pl

Kind = Literal["number", "category", "boolean", "time"]

# Words for nothing, beside those that are missing in every column.
BLANK = (
    *("", "-", "--", "---", ".", "?", "n.a.", "n. a.", "n/a", "#n/a", "#n/v", "#nv", "na", "nan"),
    *("k.a.", "k. a.", "none", "null", "nil"),
)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One way to understand a column.

    A number has a sign before its decimals, perhaps one between its thousands, and a unit that all
    share; a time has its parts in an order, and is told at an offset in minutes from UTC.
    """

    kind: Kind
    decimal: str = "."
    thousands: str | None = None
    unit: str | None = None
    whole: bool = False
    order: str | None = None
    offset: int = 0

    def to_json(self) -> dict[str, Any]:
        """As it is kept and shown."""
        return asdict(self)


def tidied(text: pl.Expr) -> pl.Expr:
    """Without blanks at the ends, and with the plain one of each kind of blank, dash and quote."""
    plain = text.str.replace_all("[\u00a0\u2007\u2009\u202f]", " ")
    plain = plain.str.replace_all("[\u2010\u2011\u2012\u2013\u2212]", "-")
    return plain.str.replace_all("[\u2019\u00b4`]", "'").str.strip_chars()


def is_blank(text: pl.Expr) -> pl.Expr:
    """Whether a tidied text is a word for nothing."""
    return text.str.to_lowercase().is_in(list(BLANK))
