"""Finds out what the texts of a column are: the reading that nearly every value fits, if any.

It looks at each different text once. A reading is taken for the column as a whole: 1,234 alone may
be two numbers, among others like 0,5 it is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import polars as pl

from app.datasets.formats import Wish
from app.datasets.kinds.conversion import meaning
from app.datasets.kinds.moments import commonest_offset, may_be_time, time_readings
from app.datasets.kinds.numbers import MOST_EXACT, are_whole, number_readings
from app.datasets.kinds.reading import Reading, is_blank, tidied
from app.datasets.kinds.truths import may_be_truth

NEARLY_ALL = 0.98
GLANCE = 500
WORTH_A_LOOK = 0.5
TEXT, TIMES = "text", "n"
CATEGORY = Reading(kind="category")
DIGIT = re.compile("[0-9]")
_TIDY = tidied(pl.col(TEXT))
_IS_KNOWN = ~is_blank(pl.col(TEXT))
_ALL_TIMES = pl.col(TIMES).sum()


@dataclass(frozen=True)
class Fit:
    """How a reading fits, and whether another would read the same rows otherwise.

    `values` are the different texts with how often each occurs and what it stands for; of `n_known`
    rows that have a value `n_fit` are understood.
    """

    reading: Reading
    values: pl.DataFrame
    n_fit: int
    n_known: int
    rival: Reading | None = None

    @property
    def share(self) -> float:
        """Of the rows that have a value."""
        return self.n_fit / self.n_known if self.n_known else 0.0

    @property
    def is_taken(self) -> bool:
        """Whether nearly every value fits."""
        return self.share >= NEARLY_ALL

    @property
    def unfit(self) -> pl.DataFrame:
        """The texts that are not understood, the most frequent first."""
        unfit = self.values.filter(pl.col("value").is_null())
        return unfit.sort(TIMES, TEXT, descending=[True, False])


def closest(column: pl.Series, *, plain_numbers: bool = True) -> Fit | None:
    """The reading that most values fit, if at least every other does.

    Without `plain_numbers`, digits alone stay text: the file has types and says so.
    """
    present = column.drop_nulls()
    if present.is_empty():
        return None
    glance = _counted(present.head(GLANCE))
    candidates = list(_candidates(glance))
    fits = _fits(candidates, glance) if candidates else []
    likely = [fit for fit in fits if fit.share >= WORTH_A_LOOK]
    if not likely:
        return None
    if len(present) > GLANCE:
        likely = _fits([fit.reading for fit in likely], _counted(present))
    fit = _best(likely)
    return None if _is_none_after_all(fit, plain_numbers) else fit


def obey(column: pl.Series, wish: Wish) -> Fit:
    """The reading of the wished kind that fits best, however few values do."""
    counted = _counted(column.drop_nulls())
    return _best(_fits(_wished(wish, counted), counted))


def _wished(wish: Wish, counted: pl.DataFrame) -> Iterator[Reading]:
    if wish.kind == "number":
        yield from _with_signs(wish, counted)
    elif wish.kind == "time":
        yield from time_readings(told=True)
    else:
        yield Reading(kind="boolean") if wish.kind == "boolean" else CATEGORY


def _with_signs(wish: Wish, counted: pl.DataFrame) -> Iterator[Reading]:
    found = list(number_readings(counted[TEXT]))
    decimals = [r for r in found if wish.decimal in (None, r.decimal)]
    fitting = [r for r in decimals if wish.thousands in (None, r.thousands)]
    if wish.thousands == "":
        fitting = [replace(r, thousands=None) for r in decimals]
    yield from fitting


def _candidates(counted: pl.DataFrame) -> Iterator[Reading]:
    """What a few texts look like, told without the start of a query."""
    texts = counted[TEXT].to_list()
    if any(map(may_be_truth, texts)):
        yield Reading(kind="boolean")
    if any(map(DIGIT.search, texts)):
        yield from number_readings(counted[TEXT])
        yield from (r for r in time_readings(told=False) if may_be_time(texts, r))


def _counted(present: pl.Series) -> pl.DataFrame:
    """The different texts, tidied, and how often each occurs; words for nothing aside."""
    counted = present.alias(TEXT).value_counts(name=TIMES)
    tidy = counted.lazy().with_columns(_TIDY).filter(_IS_KNOWN)
    return tidy.group_by(TEXT).agg(_ALL_TIMES).sort(TEXT).collect()


def _fits(readings: Iterable[Reading], counted: pl.DataFrame) -> list[Fit]:
    """All at once: polars takes longer to be asked than to answer about few texts."""
    tried, times = list(readings), counted[TIMES]
    found = counted.select(_value(reading, place) for place, reading in enumerate(tried))
    n_fit = found.select((pl.all().is_not_null() * times).sum()).row(0)
    return [
        Fit(reading, counted.with_columns(value.alias("value")), n, int(times.sum()))
        for reading, value, n in zip(tried, found.iter_columns(), n_fit, strict=True)
    ]


@lru_cache(maxsize=256)
def _value(reading: Reading, place: int) -> pl.Expr:
    """An expression is written down once for each reading, not for each column."""
    return meaning(pl.col(TEXT), reading).alias(str(place))


def _best(fits: Sequence[Fit]) -> Fit:
    """The best fit; of equals one in which all numbers are whole, or the one named first."""
    most = max(fit.n_fit for fit in fits)
    equals = [_completed(fit) for fit in fits if fit.n_fit == most]
    best = max(equals, key=lambda fit: fit.reading.whole)
    rivals = [fit for fit in equals if _differ(fit, best)]
    return replace(best, rival=rivals[0].reading) if rivals else best


def _differ(one: Fit, other: Fit) -> bool:
    same_kind = one.reading.kind == other.reading.kind
    return same_kind and not one.values["value"].equals(other.values["value"])


def _completed(fit: Fit) -> Fit:
    """With what only the values tell: which signs there are, and the zone of most times."""
    reading = fit.reading
    if reading.kind == "number":
        thousands = reading.thousands if _occurs(fit, reading.thousands) else None
        whole = are_whole(fit.values["value"])
        return replace(fit, reading=replace(reading, thousands=thousands, whole=whole))
    if reading.kind == "time" and fit.n_fit and reading.order:
        offset = commonest_offset(fit.values[TEXT], reading.order)
        counted = fit.values.select(TEXT, TIMES)
        return _fits([replace(reading, offset=offset)], counted)[0] if offset else fit
    return fit


def _occurs(fit: Fit, sign: str | None) -> bool:
    """Between digits of a text that is understood."""
    if sign is None:
        return False
    between = pl.col(TEXT).str.contains(f"[0-9]{re.escape(sign)}[0-9]")
    return bool(fit.values.select((between & pl.col("value").is_not_null()).any()).item())


def _is_none_after_all(fit: Fit, plain_numbers: bool) -> bool:
    """Only one of yes and no; codes, which begin with zeros or are longer than floats hold."""
    values = fit.values["value"].drop_nulls()
    if fit.reading.kind == "boolean":
        return values.n_unique() < 2
    if fit.reading.kind == "number":
        texts = fit.values[TEXT]
        codes = texts.str.contains("^0[0-9]+$").any() or bool((values.abs() >= MOST_EXACT).any())
        return codes or not (plain_numbers or texts.str.contains("[^-0-9.eE]").any())
    return False
