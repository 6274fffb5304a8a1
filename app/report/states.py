"""What kinds of rows there are: the latent states, each with its share, its class and its marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from app.report.bars import Bar, bar_chart
from app.report.chart import Chart
from app.report.levels import Arrays, Document, Floats, levels_of, models_of, where
from app.report.words import counted, percent

MAX_STATES = 40
MAX_SAID = 6
N_MARKS = 3
_TINY = 1e-12


@dataclass(frozen=True)
class State:
    """`share` of the rows; `purity` is that of its class, `marks` are conditions with shares."""

    share: float
    label: str
    purity: float
    colour: int
    marks: tuple[tuple[str, float, float], ...]


def states_of(document: Document, arrays: Arrays) -> list[State]:
    """Of the first model, the heaviest first."""
    first = next(models_of(document, arrays), None)
    if first is None:
        return []
    weights, factors = first
    levels, target = levels_of(document), document["target"]
    features = {name: factor for name, factor in factors.items() if name != target}
    return [
        _state(int(f), weights, factors[target], levels[target], features, levels)
        for f in np.argsort(-weights, kind="stable")[:MAX_STATES]
    ]


def _state(
    f: int,
    weights: Floats,
    label: Floats,
    classes: Sequence[str],
    features: dict[str, Floats],
    levels: dict[str, list[str]],
) -> State:
    own = int(label[:, f].argmax())
    marks = sorted((_mark(factor, weights, f), name) for name, factor in features.items())
    return State(
        share=float(weights[f]),
        label=classes[own],
        purity=float(label[own, f]),
        colour=own,
        marks=tuple(
            (where(name, levels[name][level]), here, usual)
            for (_, level, here, usual), name in marks[:N_MARKS]
            if here > usual
        ),
    )


def _mark(factor: Floats, weights: Floats, f: int) -> tuple[float, int, float, float]:
    """The level that sets a state apart most: how much, which, its share here and in all rows."""
    usual = factor @ weights
    apart = factor[:, f] * np.log(np.maximum(factor[:, f], _TINY) / np.maximum(usual, _TINY))
    level = int(apart.argmax())
    return -float(apart[level]), level, float(factor[level, f]), float(usual[level])


def state_chart(document: Document, arrays: Arrays) -> Chart | None:
    """Their shares, coloured by class."""
    states = states_of(document, arrays)
    if not states:
        return None
    title = "How many rows each latent state holds"
    bars = [
        Bar(
            name=f"{i}  {state.label}",
            value=state.share,
            shown=percent(state.share),
            note=_sentence(i, state, document["target"]),
            series=state.colour,
        )
        for i, state in enumerate(states, 1)
    ]
    return Chart(
        name="states",
        title=title,
        caption=f"Of the first model, the heaviest first; the colour is that of the class of "
        f"{document['target']} that is likeliest in it.",
        draw=partial(bar_chart, title, bars),
        columns=["state", "share", "class", "purity", *(f"mark_{i + 1}" for i in range(N_MARKS))],
        rows=[_row(i, state) for i, state in enumerate(states, 1)],
    )


def _row(i: int, state: State) -> list[str | float | int | None]:
    marks = [mark for mark, _, _ in state.marks]
    return [i, state.share, state.label, state.purity, *marks, *[None] * (N_MARKS - len(marks))]


def state_sentences(document: Document, arrays: Arrays) -> list[str]:
    """The heaviest of them, in words."""
    states = states_of(document, arrays)
    if not states:
        return []
    found = f"The model tells {counted(len(states), 'kind')} of rows apart."
    said = [_sentence(i, s, document["target"]) for i, s in enumerate(states[:MAX_SAID], 1)]
    rest = len(states) - len(said)
    return [found, *said, *([f"{rest} more are in the picture."] if rest > 0 else [])]


def _sentence(i: int, state: State, target: str) -> str:
    head = f"State {i}, {percent(state.share)} of rows: {target} is {state.label}"
    sure = "" if state.purity > 0.995 else f" in {percent(state.purity)}"
    marks = ", ".join(
        f"{mark} ({percent(here)} instead of {percent(usual)})" for mark, here, usual in state.marks
    )
    return f"{head}{sure}. Set apart by {marks}." if marks else f"{head}{sure}."
