"""Why a column is read as it is, in sentences."""

from __future__ import annotations

import polars as pl

from app.datasets.faults import printable
from app.datasets.kinds.detection import TEXT, Fit
from app.datasets.kinds.reading import Reading

NOUNS = {
    "number": ("a number", "numbers"),
    "time": ("a time", "times"),
    "boolean": ("a yes or a no", "a yes or a no"),
    "category": ("text", "texts"),
}
SIGNS = {",": "commas", ".": "points", " ": "blanks", "'": "apostrophes"}
ORDERS = {
    "ymd": "year, month, day",
    "dmy": "day, month, year",
    "mdy": "month, day, year",
    "d month y": "day, name of the month, year",
    "month d y": "name of the month, day, year",
    "clock": "a time of day",
    "compact": "eight digits: year, month, day",
}
CHOICES = {"number": "number", "time": "time", "boolean": "yes or no"}
NEARLY = 0.8  # of the values, for a column that stays text to be told from other text
LONGEST = 40
TEXT_STAYS = "Not numbers, times, or yes and no."
AS_TOLD = "You said so."
NATIVE = {"number": "Every value is a number.", "boolean": "Every value is true or false."}
FILE_SAYS = "The file has types and says so."


def why(fit: Fit) -> str:
    """What made the reading, and what else it might have been."""
    return " ".join([_found(fit), *_otherwise(fit)])


def why_text(near: Fit | None) -> str:
    """Why a column stays text, with what it nearly is."""
    if near is None or near.share < NEARLY:
        return TEXT_STAYS
    _, many = NOUNS[near.reading.kind]
    other = printable(near.unfit[TEXT][0][:LONGEST])
    return (
        f"{near.n_fit:,} of {near.n_known:,} values are {many}, others like “{other}” are not: "
        f"choose {CHOICES[near.reading.kind]} if those mean nothing."
    )


def _found(fit: Fit) -> str:
    one, many = NOUNS[fit.reading.kind]
    if fit.n_fit == fit.n_known:
        return f"Every value is {one}{_manner(fit)}."
    return f"{fit.n_fit:,} of {fit.n_known:,} values are {many}{_manner(fit)}."


def _manner(fit: Fit) -> str:
    reading = fit.reading
    if reading.kind == "number":
        return _signs(reading)
    if reading.kind == "time":
        zone = f", told at UTC{reading.offset / 60:+g} h" if reading.offset else ""
        return f", written as {ORDERS[reading.order or '']}{zone}"
    if reading.kind == "boolean":
        words = fit.values.filter(pl.col("value").is_not_null())[TEXT].head(4)
        return f", written {', '.join(words)}"
    return ""


def _signs(reading: Reading) -> str:
    parts = []
    if reading.thousands:
        parts.append(f"{SIGNS[reading.thousands]} between thousands")
    if reading.decimal == "," and not reading.whole:
        parts.append("a comma before decimals")
    told = f", with {' and '.join(parts)}" if parts else ""
    if reading.unit == "%":
        return f"{told}, in percent: 5 % is 0.05"
    return f"{told}, in {reading.unit}" if reading.unit else told


def _otherwise(fit: Fit) -> list[str]:
    if fit.rival is None:
        return []
    if fit.reading.kind == "time":
        return [f"Read as {ORDERS[fit.rival.order or '']} they fit as well: change it if so."]
    sign = fit.reading.thousands or fit.reading.decimal
    return [
        f"Before three digits everywhere, {sign!r} is taken to part thousands; "
        "change it if it stands before decimals."
    ]
