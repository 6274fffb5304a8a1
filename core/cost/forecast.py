"""The phases of a run, and the seconds of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from core.budgets import HELD_ROWS, MOST_DISTANCES
from core.config import Bootstrap, Compare, Discretize, Evaluate, GsmCpd, Method, SelectionConfig
from core.cost.crossfit import score_beliefs, usual_choice
from core.cost.engines import EngineName, encode_there
from core.cost.gsm import GsmWork
from core.cost.rivals import search_rival, select_rival
from core.cost.work import Speed, Work
from core.memory import TableShape
from core.results.selection import Decided, Phase

LONGEST_CURVE = 50
"""Features that compared methods choose when their number is left open."""

UNORDERED = 0.2
"""What encoding a value takes that need not be brought into order."""

TEXT_SORTS, STRETCH_TEXT_SORTS = 10, 24
MOMENT_SORTS, STRETCH_MOMENT_SORTS = 1, 2
"""What each different text, and each moment for every part of it, takes beside that; the second of
each where a column is read in stretches, twice."""


def phase_seconds(
    shape: TableShape,
    config: SelectionConfig,
    speed: Speed,
    compare: Compare | None = None,
    bootstrap: Bootstrap | None = None,
    decided: Decided | None = None,
    engine: EngineName = "memory",
) -> dict[Phase, float]:
    """Seconds of each phase of a run, in order; better known once held-out rows have decided."""
    phases = phase_work(shape, config, compare, bootstrap, decided, engine)
    return {phase: speed.seconds(work) for phase, work in phases.items()}


def phase_work(
    shape: TableShape,
    config: SelectionConfig,
    compare: Compare | None = None,
    bootstrap: Bootstrap | None = None,
    decided: Decided | None = None,
    engine: EngineName = "memory",
) -> dict[Phase, Work]:
    """The work of each phase of a run, in order."""
    k, method, cut = _wanted(config), config.method, config.discretize
    chosen = _choose(shape, method, cut, k, engine, decided)
    work: dict[Phase, Work] = {"encode": _encode(shape) + encode_there(shape, engine), **chosen}
    size = _size(shape, k, decided)
    if (how := config.evaluate) is not None:
        work["evaluate"] = _trial(shape, method, cut, size, how, engine) * how.n_splits
    if compare is not None:
        longest = min(k or LONGEST_CURVE, shape.n_features)
        how = compare.evaluate
        trials = [_trial(shape, m, cut, longest, how, engine) for m in compare.methods]
        work["compare"] = _total(trials) * compare.n_splits
    if bootstrap is not None:
        half = replace(shape, n_rows=-(-shape.n_rows // 2))
        again = _choose(half, method, cut, size, engine)
        again.pop("rank")
        work["resample"] = _total(again.values()) * bootstrap.n_samples
    return work


def _wanted(config: SelectionConfig) -> int | None:
    return None if config.k == "auto" else config.k


def _encode(shape: TableShape) -> Work:
    n_other = shape.n_features - shape.n_continuous
    is_held = shape.n_rows <= HELD_ROWS
    moments = shape.n_moments * (MOMENT_SORTS if is_held else STRETCH_MOMENT_SORTS)
    values = shape.n_rows * (shape.n_continuous + UNORDERED * n_other + moments)
    texts = shape.n_texts * (TEXT_SORTS if is_held else STRETCH_TEXT_SORTS)
    return Work(calls=7 * shape.n_features, sorts=values + texts)


def _choose(
    shape: TableShape,
    method: Method,
    discretize: Discretize,
    k: int | None,
    engine: EngineName,
    decided: Decided | None = None,
) -> dict[Phase, Work]:
    size = _size(shape, k, decided)
    if isinstance(method, GsmCpd):
        gsm = GsmWork(shape, method, discretize, k, decided, engine)
        return {"rank": gsm.search(), "fit": gsm.fit(), "select": gsm.select(size)}
    searched = search_rival(shape, method, discretize, k)
    return {"rank": searched, "select": select_rival(shape, method, size, engine)}


def _size(shape: TableShape, k: int | None, decided: Decided | None) -> int:
    """How many features are chosen."""
    if decided is not None and decided.n_features is not None:
        return decided.n_features
    return min(k or usual_choice(shape.n_rows), shape.n_features)


def _trial(
    shape: TableShape,
    method: Method,
    discretize: Discretize,
    k: int,
    how: Evaluate,
    engine: EngineName,
) -> Work:
    """A selection on the training part of a split, and what judges say of the rest."""
    n_test = round(shape.n_rows * how.test_fraction)
    train = replace(shape, n_rows=max(shape.n_rows - n_test, 1))
    pairs = train.n_rows * n_test
    judged = Work(
        distances=min(pairs * shape.n_features, MOST_DISTANCES)
        + 3 * min(pairs * k, MOST_DISTANCES),
        counts=10 * shape.n_rows * shape.n_features,
    )
    n_judges = 2 if isinstance(method, GsmCpd) else 1
    judged += score_beliefs(n_test, k + 1, shape.n_classes) * n_judges
    return _total(_choose(train, method, discretize, k, engine).values()) + judged


def _total(works: Iterable[Work]) -> Work:
    return sum(works, Work())
