"""Time left: as expected at first, then by how the phases so far went."""

from __future__ import annotations

import pytest

from core.results.selection import Decided, Phase, Progress
from worker.forecast import Forecast, approach
from worker.recorder import Recorder

EXPECTED: dict[Phase, float] = {"encode": 1.0, "rank": 5.0, "fit": 2.0, "select": 2.0}


def foresee(decided: Decided | None) -> dict[Phase, float]:
    """Each feature that is to be chosen takes a second, once that is known."""
    if decided is None or decided.n_features is None:
        return EXPECTED
    return {**EXPECTED, "rank": 100.0, "select": float(decided.n_features)}


def test_nothing_is_known_before_the_first_phase() -> None:
    forecast = Forecast(foresee)
    forecast.note("prepare", 0.5, 3.0)
    assert (forecast.progress, forecast.seconds_left(4.0)) == (0.0, None)
    forecast.note("encode", 0.0, 20.0)  # what came before is no measure of the speed
    assert forecast.seconds_left(20.0) == pytest.approx(10.0)


@pytest.mark.parametrize("slower", [0.4, 1.0, 6.0])
def test_the_rest_takes_as_much_longer_as_what_has_been(slower: float) -> None:
    forecast, now, ratios, done = Forecast(foresee), 0.0, list[float](), list[float]()
    for phase, seconds in EXPECTED.items():
        for within in (0.0, 0.5, 1.0):
            at = now + within * seconds * slower
            forecast.note(phase, within, at)
            left = forecast.seconds_left(at)
            assert left is not None
            done.append(forecast.progress)
            if 0.1 <= forecast.progress < 0.9:
                ratios.append(left / (10 * slower - at))
        now += seconds * slower
    assert done == sorted(done)
    assert 0.95 < done[-1] < 1  # something always comes after the last step
    assert all(0.5 <= ratio <= 2 for ratio in ratios)


def test_what_an_earlier_attempt_did_says_nothing_about_the_speed() -> None:
    forecast = Forecast(foresee)
    forecast.note("encode", 0.0, 0.0)
    forecast.note("encode", 1.0, 2.0)
    forecast.note("select", 0.0, 2.0)  # the phases between were completed before
    assert forecast.progress == pytest.approx(0.8)
    assert forecast.seconds_left(2.0) == pytest.approx(2.0 * (2 + 1) / (1 + 1))


def test_a_phase_that_had_less_to_do_was_not_faster() -> None:
    forecast = Forecast(foresee)
    forecast.note("encode", 0.0, 0.0)
    forecast.note("encode", 1.0, 1.0)
    forecast.note("rank", 0.0, 1.0)
    forecast.note("rank", 0.4, 3.0)
    forecast.note("fit", 0.0, 3.0)
    assert forecast.seconds_left(3.0) == pytest.approx(4.0)


def test_a_phase_that_has_more_to_do_goes_by_its_own_steps() -> None:
    forecast = Forecast(foresee)
    forecast.note("encode", 0.0, 0.0)
    forecast.note("encode", 1.0, 1.0)
    forecast.note("select", 0.0, 1.0)
    forecast.note("select", 0.5, 5.0)  # 8 s, not 2
    left = forecast.seconds_left(5.0)
    assert left is not None
    assert 2 < left < 8


def test_what_is_decided_changes_what_lies_ahead_alone() -> None:
    forecast = Forecast(foresee)
    forecast.note("encode", 0.0, 0.0)
    forecast.note("encode", 1.0, 1.0)
    forecast.note("rank", 1.0, 6.0)
    forecast.note("fit", 0.0, 6.0)
    assert forecast.seconds_left(6.0) == pytest.approx(4.0)
    forecast.decide(Decided(rank=10, hears_plainer=False, n_features=7))
    assert forecast.seconds_left(6.0) == pytest.approx(9.0)
    assert forecast.progress == pytest.approx(6 / 15)


def test_a_search_that_will_be_longer_says_so() -> None:
    forecast = Forecast(foresee)
    forecast.note("rank", 0.0, 0.0)
    forecast.note("rank", 0.6, 3.0)
    before = forecast.progress
    assert forecast.seconds_left(3.0) == pytest.approx(6.0)
    forecast.decide(Decided(rank=10, hears_plainer=False, searched=1.4))
    assert forecast.seconds_left(3.0) == pytest.approx(8.0)
    assert forecast.progress == before  # a bar does not go back
    forecast.decide(Decided(rank=10, hears_plainer=False, searched=0.9))
    assert forecast.seconds_left(3.0) == pytest.approx(5.5)


def test_a_recorder_without_expectations_tells_the_fraction_alone() -> None:
    recorder = Recorder()
    recorder.note(Progress(phase="rank", fraction=0.3, within=0.5))
    assert recorder.peek()[0] == {"phase": "rank", "progress": 0.3}
    recorder.expect(foresee)
    recorder.note(Progress(phase="rank", fraction=0.3, within=0.5))
    values = recorder.peek()[0]
    assert values["progress"] == pytest.approx(0.35)
    assert values["seconds_left"] > 0


def test_what_may_be_more_than_expected_never_seems_done() -> None:
    shares = [approach(share / 10) for share in range(60)]
    assert shares == sorted(set(shares))
    assert shares[5] == 0.5
    assert shares[-1] < 1
