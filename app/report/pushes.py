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
    said = [_level(effect, level, target) for level in _telling_levels(effect)]
    if not said:
        return f"{effect.name} by itself moves {target} little."
    words = "; ".join(said)
    return f"{words[0].upper()}{words[1:]}."


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
    low, high = effect.given[filled[0], grows], effect.given[filled[-1], grows]
    return (
        f"The higher {effect.name}, the likelier is {target} {effect.classes[grows]}: "
        f"from {percent(low)} to {percent(high)}."
    )


def _telling_levels(effect: Effect) -> list[int]:
    """The most telling level, and the next that speaks for another class."""
    order = [i for i in np.argsort(-effect.telling, kind="stable") if effect.rows[i] >= FEW_ROWS]
    found: dict[int, int] = {}
    for level in order:
        found.setdefault(_class(effect, level), int(level))
    return list(found.values())[:2]


def _class(effect: Effect, level: int) -> int:
    """The class whose share moves most at a level."""
    return int((effect.given[level] - effect.shares).argmax())


def _level(effect: Effect, level: int, target: str) -> str:
    one = _class(effect, level)
    now, usual = effect.given[level, one], effect.shares[one]
    return (
        f"where {where(effect.name, effect.levels[level])}, {target} is {effect.classes[one]} "
        f"in {percent(now)} of rows instead of {percent(usual)}"
    )
