"""Who is looked at closely, on losses made by hand; `asked` has every look that costs a fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from core.arrays import Floats
from core.config import Strategy
from core.crossfit.choice import Configuration, best_configuration
from core.crossfit.race import GLANCE_FOLDS, Race

N_FOLDS = 5
FOLDS = np.arange(500) % N_FOLDS
RNG = np.random.default_rng(0)
BASE = 1 + 0.1 * RNG.normal(size=len(FOLDS))
GLANCED, ALL = tuple(range(GLANCE_FOLDS)), tuple(range(N_FOLDS))
STRATEGIES: tuple[Strategy, ...] = ("uniform", "quantile", "supervised")
RANKS = (2, 4, 8, 16)


def above(mean: float, spread: float = 0.02) -> Floats:
    """Losses that lie so far above the lowest in every fold, give or take the spread."""
    scatter = RNG.normal(size=len(FOLDS)).reshape(-1, N_FOLDS)
    even: Floats = ((scatter - scatter.mean(axis=0)) / scatter.std(axis=0)).ravel()
    return BASE + mean + spread * even


class Losses:
    """What every configuration would lose; those not named lose most."""

    def __init__(self, known: Mapping[Configuration, Floats]) -> None:
        self._known = known
        self.asked: list[tuple[Configuration, tuple[int, ...]]] = []

    def __call__(self, configuration: Configuration, folds: Iterable[int]) -> Floats:
        folds = tuple(folds)
        self.asked.append((configuration, folds))
        loss = self._known.get(configuration, BASE + 1)
        return np.where(np.isin(FOLDS, folds), loss, np.nan)

    def closely(self) -> list[Configuration]:
        return [configuration for configuration, folds in self.asked if folds == ALL]


def raced(known: Mapping[Configuration, Floats]) -> tuple[Race, Losses]:
    losses = Losses(known)
    race = Race(losses, FOLDS, np.ones(len(FOLDS)))
    race.run(STRATEGIES, RANKS)
    return race, losses


def at_lowest(**means: float) -> dict[Configuration, Floats]:
    return {Configuration(s, RANKS[0]): above(means.get(s, 1.0)) for s in STRATEGIES}


def test_a_way_to_cut_that_clearly_loses_is_dropped_after_a_glance() -> None:
    """Also the first, which is looked at before there is another."""
    race, losses = raced(at_lowest(uniform=0.05, quantile=0.05, supervised=0.001))
    assert losses.asked[:3] == [(Configuration(s, 2), GLANCED) for s in STRATEGIES]
    assert losses.closely() == [Configuration("supervised", 2)] == list(race.tried)


def test_a_way_to_cut_that_may_be_as_good_is_looked_at_closely() -> None:
    """At a glance it is behind, by no more than chance; on all rows it is ahead."""
    late = np.where(FOLDS < GLANCE_FOLDS, above(0.001), above(-0.1))
    race, _ = raced(at_lowest(uniform=0.0) | {Configuration("quantile", 2): late})
    assert best_configuration(race.tried, race.weights) == Configuration("quantile", 2)


def test_more_states_that_are_no_better_after_a_glance_are_not_looked_at_closer() -> None:
    """Nor are more again, whatever these would have shown, nor another way to cut's."""
    hidden = {Configuration("uniform", rank): above(-0.5) for rank in RANKS[2:]}
    no_better = {Configuration("uniform", 4): above(0.0001, spread=0.001)}
    race, losses = raced(at_lowest(uniform=0.0) | no_better | hidden)
    assert losses.asked[-1] == (Configuration("uniform", 4), GLANCED)
    assert losses.closely() == [Configuration("uniform", 2)] == list(race.tried)


def test_more_states_are_tried_while_they_help_and_clear_losers_no_further() -> None:
    better = {Configuration("uniform", rank): above(-0.1 * rank) for rank in RANKS[1:3]}
    race, losses = raced(at_lowest(uniform=0.0) | better)
    assert losses.asked[-2:] == [
        (Configuration("uniform", 16), GLANCED),
        (Configuration("uniform", 8), ALL),
    ]
    assert list(race.tried) == [Configuration("uniform", 2), Configuration("uniform", 8)]
    assert best_configuration(race.tried, race.weights) == Configuration("uniform", 8)


def test_fewer_states_that_may_be_as_good_are_looked_at_closely() -> None:
    """At a glance they are behind, by no more than chance; on all rows they are ahead."""
    early = np.where(FOLDS < GLANCE_FOLDS, above(-0.011), above(0.5))
    ranks = {Configuration("uniform", 4): above(-0.01), Configuration("uniform", 8): early}
    race, losses = raced(at_lowest(uniform=0.0) | ranks)
    assert losses.closely() == [Configuration("uniform", rank) for rank in RANKS[:3]]
    assert best_configuration(race.tried, race.weights) == Configuration("uniform", 4)


def test_two_ways_to_cut_climb_at_most_and_the_best_of_them_first() -> None:
    losses = raced(at_lowest(uniform=0.0003, quantile=0.0002, supervised=0.0))[1]
    assert losses.asked[-2:] == [
        (Configuration("supervised", 4), GLANCED),
        (Configuration("quantile", 4), GLANCED),
    ]


def test_counts_are_heard_where_the_rows_that_are_asked_lose_nothing_by_them() -> None:
    states = Configuration("uniform", 8)
    counting = replace(states, hears_counts=True)
    odd = FOLDS % 2 == 1
    for worse, heard in ((-0.1, True), (0.0001, True), (0.1, False)):
        race, losses = raced({states: above(0), counting: above(worse)})
        everyone = np.ones(len(FOLDS), dtype=bool)
        assert race.hear_counts(states, everyone) == (counting if heard else states)
        assert counting not in race.tried
        # Those that are clearly worse are only glanced at.
        assert (counting in losses.closely()) == heard
    split, _ = raced({states: above(0), counting: np.where(odd, above(0.1), above(-0.1))})
    assert split.hear_counts(states, odd) == states
    assert split.hear_counts(states, ~odd) == counting
