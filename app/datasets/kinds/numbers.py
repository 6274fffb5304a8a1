"""Numbers as people write them: 1.234,50 and 1,234.50, € 5, 5 %, (5) and 5-."""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

from app.datasets.kinds.reading import Reading

# The sign before decimals, and the one between thousands.
SIGNS = ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
CODES = "EUR|USD|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|AUD|CAD|NZD|BRL|MXN|ZAR|TRY|KRW|RUB"
UNIT = rf"%|[A-Z]{{0,2}}\p{{Sc}}|\b(?:{CODES}|Rs|kr|Fr)\b\.?|zł|Kč"
SAME = {"EUR": "€", "USD": "$", "US$": "$", "GBP": "£", "JPY": "¥", "INR": "₹", "Rs": "₹"}
MOST_EXACT = 2**53


def number_readings(texts: pl.Series) -> Iterator[Reading]:
    """Every way in which these, tidied, could be numbers, in the unit that most of them have."""
    unit = _commonest_unit(texts)
    for decimal, thousands in SIGNS:
        yield Reading(kind="number", decimal=decimal, thousands=thousands, unit=unit)


def as_number(text: pl.Expr, reading: Reading) -> pl.Expr:
    """The numbers that tidied texts stand for; null where one stands for none."""
    bare = _signed(text.str.replace(_unit(reading.unit), "") if reading.unit else text)
    fits = bare.str.contains(_pattern(reading))
    if reading.unit == "%":
        fits &= text.str.contains("%", literal=True)
    plain = bare.str.strip_prefix("+")
    if reading.thousands:
        plain = plain.str.replace_all(reading.thousands, "", literal=True)
    value = plain.str.replace(reading.decimal, ".", literal=True).cast(pl.Float64, strict=False)
    value = value / 100 if reading.unit == "%" else value
    number = pl.when(fits).then(value)
    return number.cast(pl.Int64, strict=False) if reading.whole else number


def are_whole(numbers: pl.Series) -> bool:
    """Whether integers hold them all exactly."""
    known = numbers.drop_nulls().to_numpy()
    return len(known) > 0 and bool(((known % 1 == 0) & (abs(known) < MOST_EXACT)).all())


def _signed(bare: pl.Expr) -> pl.Expr:
    """With the minus in front, where bookkeepers write (5) or 5-."""
    bare = bare.str.strip_chars().str.replace(r"^\((.*)\)$", "-$1")
    bare = bare.str.replace(r"^(.*[0-9]) ?-$", "-$1")
    return bare.str.replace(r"^([-+]) +", "$1").str.strip_chars()


def _pattern(reading: Reading) -> str:
    """No thousands begin with a zero: 0,123 has decimals."""
    decimal, whole = re.escape(reading.decimal), "[0-9]+"
    if reading.thousands:
        sign = re.escape(reading.thousands)
        whole = rf"(?:[0-9]+|[1-9][0-9]{{0,2}}(?:{sign}[0-9]{{2,3}})*{sign}[0-9]{{3}})"
    return rf"^[-+]?(?:{whole}(?:{decimal}[0-9]*)?|{decimal}[0-9]+)(?:[eE][-+]?[0-9]+)?$"


def _commonest_unit(texts: pl.Series) -> str | None:
    found = texts.str.extract(f"({UNIT})").drop_nulls().replace(SAME)
    counted = found.value_counts().sort("count", found.name, descending=[True, False])
    return counted[found.name][0] if len(counted) else None


def _unit(unit: str) -> str:
    names = [unit, *(name for name, same in SAME.items() if same == unit)]
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
