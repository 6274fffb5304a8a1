"""Which way features push, in sentences."""

from __future__ import annotations

import numpy as np

from app.report.effects import Effect, effects_of
from app.report.levels import Arrays, Document, where
from app.report.words import percent

FEW_ROWS = 5


def push_sentences(document: Document, arrays: Arrays) -> list[str]:
    """One for each of the first features."""
    target = document["target"]
    return [_sentence(effect, target) for effect in effects_of(document, arrays)]


def _sentence(effect: Effect, target: str) -> str:
    if len(effect.classes) == 2 and (trend := _trend(effect, target)):
        return trend
    telling = _telling_levels(effect)
    if not telling:
        return f"{effect.name} by itself moves {target} little."
    first = where(effect.name, effect.levels[telling[0]])
    rest = (f"where it is {effect.levels[i]}, {_moved(effect, i)}" for i in telling[1:])
    said = "; ".join(
        [f"Where {first}, {target} is {_moved(effect, telling[0], ' of rows')}", *rest]
    )
    return f"{said}."


def _trend(effect: Effect, target: str) -> str | None:
    """Of two classes, where one becomes ever likelier along the ranges of a number."""
    filled = np.flatnonzero(effect.rows >= FEW_ROWS)
    if not effect.levels[0].startswith("< ") or len(filled) < 2:
        return None
    likelier = effect.given[filled, 1]
    steps = np.diff(likelier)
    if not (np.all(steps >= 0) or np.all(steps <= 0)):
        return None
    grows = int(steps.sum() >= 0)
    low, high = (percent(effect.given[filled[end], grows]) for end in (0, -1))
    if low == high:
        return None
    return (
        f"The higher {effect.name}, the likelier is {target} {effect.classes[grows]}: "
        f"from {low} to {high}."
    )


def _telling_levels(effect: Effect) -> list[int]:
    """The most telling level, and the next that speaks for another class."""
    found: dict[int, int] = {}
    for level in np.argsort(-effect.telling, kind="stable").tolist():
        if effect.rows[level] >= FEW_ROWS and _is_seen(effect, level):
            found.setdefault(_class(effect, level), level)
    return list(found.values())[:2]


def _is_seen(effect: Effect, level: int) -> bool:
    now, usual = _shares(effect, level)
    return now != usual


def _class(effect: Effect, level: int) -> int:
    """The class whose share moves most at a level."""
    return int((effect.given[level] - effect.shares).argmax())


def _shares(effect: Effect, level: int) -> tuple[str, str]:
    """How many rows are of that class there, and of all rows."""
    one = _class(effect, level)
    return percent(effect.given[level, one]), percent(effect.shares[one])


def _moved(effect: Effect, level: int, of: str = "") -> str:
    now, usual = _shares(effect, level)
    return f"{effect.classes[_class(effect, level)]} in {now}{of} instead of {usual}"
