"""Dates and times in the common forms: 2026-01-31, 31.1.2026 10:30, Jan 31, 2026, 1:30 pm."""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

from app.datasets.kinds.reading import Reading

YEAR = r"(?:1[6-9]|2[0-2])[0-9][0-9]"
NUMBER = "[0-9]{1,2}"
WORD = r"(?P<word>[^\W\d_]{3,9})\.?"
NTH = r"(?:st|nd|rd|th|\.)?"
WEEKDAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*\.?,? )?"
CLOCK = (
    rf"(?P<H>{NUMBER}):(?P<M>[0-9]{{2}})(?::(?P<S>[0-9]{{2}})(?:[.,](?P<f>[0-9]{{1,9}}))?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
)
ZONE = r"(?: ?(?P<zone>Z|UTC|GMT|[-+][0-9]{2}:?[0-9]{2}|[-+][0-9]{2}))?"
# Of two that fit as well, the first is taken: the day stands before the month nearly everywhere.
ORDERS = {
    "ymd": rf"(?P<y>{YEAR})[-/.](?P<m>{NUMBER})(?:[-/.](?P<d>{NUMBER}))?",
    "dmy": rf"(?P<d>{NUMBER})[-/.](?P<m>{NUMBER})[-/.](?P<y>{YEAR}|[0-9]{{2}})",
    "mdy": rf"(?P<m>{NUMBER})[-/.](?P<d>{NUMBER})[-/.](?P<y>{YEAR}|[0-9]{{2}})",
    "d month y": rf"(?P<d>{NUMBER}){NTH}[- ]{WORD},?[- ](?P<y>{YEAR}|[0-9]{{2}})",
    "month d y": rf"{WORD}(?: (?P<d>{NUMBER}){NTH},?)?[- ](?P<y>{YEAR})",
}
PATTERNS = {
    **{order: f"^{WEEKDAY}{date}(?:(?:T|,? +){CLOCK})?{ZONE}$" for order, date in ORDERS.items()},
    "clock": f"^{CLOCK}$",
    "compact": rf"^(?P<y>{YEAR})(?P<m>[0-9]{{2}})(?P<d>[0-9]{{2}})$",
}
_PATTERNS = {order: re.compile(pattern) for order, pattern in PATTERNS.items()}
FOUND = [order for order in PATTERNS if order != "compact"]  # 20260131 is a number until told
MONTHS = {
    **{"jan": 1, "feb": 2, "mar": 3, "mär": 3, "mrz": 3, "apr": 4, "avr": 4, "may": 5, "mai": 5},
    **{"jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "okt": 10, "nov": 11, "dec": 12},
    **{"dez": 12, "fév": 2, "déc": 12},
}
CENTURY_TURNS = 69  # as POSIX has it: 68 is 2068, 69 is 1969


def time_readings(*, told: bool) -> Iterator[Reading]:
    """Every order; with `told`, for columns of which somebody says that they are times."""
    for order in PATTERNS if told else FOUND:
        yield Reading(kind="time", order=order)


def may_be_time(texts: list[str], reading: Reading) -> bool:
    """Whether any of a few tidied texts looks like one that is told so."""
    return any(map(_PATTERNS[reading.order or ""].match, texts))


def as_moment(text: pl.Expr, reading: Reading) -> pl.Expr:
    """The moments that tidied texts stand for; null where one stands for none."""
    pattern = PATTERNS[reading.order or ""]
    found = text.str.extract_groups(pattern)
    parts = {
        name: found.struct.field(name)
        for name in ("y", "m", "d", "word", "H", "M", "S", "f", "half", "zone")
        if f"(?P<{name}>" in pattern
    }
    date = _date(parts) if "y" in parts else [pl.lit("1970-01-01")]
    whole = pl.concat_str([*date, pl.lit(" "), *_clock(parts)])
    moment = whole.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
    moment = pl.when(text.str.contains(pattern)).then(moment)
    return _shifted(moment, parts["zone"], reading.offset) if "zone" in parts else moment


def commonest_offset(texts: pl.Series, order: str) -> int:
    """The distance to UTC that most of the times are told at, in minutes."""
    pattern = PATTERNS[order]
    if "(?P<zone>" not in pattern:
        return 0
    zone = pl.col(texts.name).str.extract_groups(pattern).struct.field("zone")
    minutes = texts.to_frame().select(_minutes(zone).drop_nulls().mode().sort().first()).item()
    return int(minutes or 0)


def _date(parts: dict[str, pl.Expr]) -> list[pl.Expr]:
    short = parts["y"].cast(pl.Int32)
    century = pl.when(short < CENTURY_TURNS).then(2000).otherwise(1900)
    year = pl.when(short < 100).then(short + century).otherwise(short)
    month = parts.get("m", pl.lit(None))
    if "word" in parts:
        name = parts["word"].str.to_lowercase().str.head(3)
        month = name.replace_strict(MONTHS, default=None, return_dtype=pl.Int32).cast(pl.String)
    return [year.cast(pl.String), pl.lit("-"), month, pl.lit("-"), parts["d"].fill_null("1")]


def _clock(parts: dict[str, pl.Expr]) -> list[pl.Expr]:
    if "H" not in parts:
        return [pl.lit("0:0:0.0")]
    hour, half = parts["H"].cast(pl.Int32), parts["half"].str.to_lowercase()
    late = pl.when(half == "p").then(12).otherwise(0)
    hour = pl.when(half.is_null()).then(hour).when(hour.is_between(1, 12)).then(hour % 12 + late)
    no_clock = parts["H"].is_null()
    return [
        pl.when(no_clock).then(pl.lit("0")).otherwise(hour.cast(pl.String)),
        pl.lit(":"), parts["M"].fill_null("0"),
        pl.lit(":"), parts["S"].fill_null("0"),
        pl.lit("."), parts["f"].fill_null("0"),
    ]  # fmt: skip


def _shifted(moment: pl.Expr, zone: pl.Expr, offset: int) -> pl.Expr:
    """All at the same distance from UTC; those that name none are as they are."""
    shift = (offset - _minutes(zone)).fill_null(0)
    return moment + pl.duration(minutes=shift)


def _minutes(zone: pl.Expr) -> pl.Expr:
    parts = zone.str.extract_groups(r"^([-+])([0-9]{2}):?([0-9]{2})?$")
    hours, minutes = (parts.struct.field(i).cast(pl.Int32) for i in ("2", "3"))
    size = 60 * hours + minutes.fill_null(0)
    signed = pl.when(parts.struct.field("1") == "-").then(-size).otherwise(size)
    return pl.when(zone.is_null()).then(None).otherwise(signed.fill_null(0))
