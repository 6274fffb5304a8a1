"""What the rows themselves say about copies, against counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.gsm import pairs
from core.gsm.copies import Copies
from tests.core import reference
from tests.core.rivals.problems import unlabelled
from tests.core.worlds import examples


def unknown(copies: Copies, feature: int, chosen: list[int], gain: float) -> float:
    return float(copies.caps(np.array([feature]), chosen, np.array([gain]))[0])


@examples(20)
@given(st.integers(0, 10**6))
def test_unknown_is_the_corrected_conditional_entropy_of_the_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (40, 3), dtype=np.uint8)
    codes[rng.random(codes.shape) < 0.1] = 255
    weights = rng.integers(1, 4, 40)
    rows = np.repeat(codes, weights, axis=0)
    expected = [reference.corrected_conditional_entropy(rows[:, 0], rows[:, c]) for c in (1, 2)]
    copies = Copies(unlabelled(codes, weights.astype(np.float64)))
    assert unknown(copies, 0, [1, 2], np.inf) == pytest.approx(min(expected), abs=1e-9)
    assert unknown(copies, 0, [0], 0.0) == 0


def test_without_weights_every_row_counts_once() -> None:
    codes = np.random.default_rng(1).integers(0, 3, (5000, 3), dtype=np.uint8)
    once, told = Copies(unlabelled(codes)), Copies(unlabelled(codes, np.ones(5000)))
    for feature in (1, 2):
        assert unknown(once, feature, [0], np.inf) == unknown(told, feature, [0], np.inf) > 0


@pytest.mark.parametrize("changed", [0, 20, 200, 2000])
def test_a_sample_only_saves_the_counting_of_what_is_plain(changed: int) -> None:
    rng = np.random.default_rng(changed)
    codes = rng.integers(0, 4, (20_000, 2), dtype=np.uint8)
    codes[changed:, 1] = codes[changed:, 0]
    copies = Copies(unlabelled(codes))
    exact = reference.corrected_conditional_entropy(codes[:, 0], codes[:, 1])
    assert unknown(copies, 0, [1], exact * 1.01) == pytest.approx(exact, abs=1e-9)
    assert unknown(copies, 0, [1], exact / 4 - 0.01) == np.inf or changed < 2000


def test_the_first_of_several_copies_is_found_whatever_its_levels_are_called() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (10_000, 5), dtype=np.uint8)
    codes[:, 1] = np.where(codes[:, 0] == 2, 0, codes[:, 0])  # told by 0, but does not tell it
    codes[:, 3] = 2 - codes[:, 2]
    codes[:, 4] = codes[:, 0]
    copies = Copies(unlabelled(codes))
    assert [copies.first_copy(f, np.arange(5)) for f in range(5)] == [0, 1, 2, 2, 0]
    assert copies.first_copy(4, np.array([1, 4])) == 4


@examples(10)
@given(st.integers(0, 10**6), st.sampled_from([0, 3, 2**19]))
def test_what_was_counted_before_changes_nothing(seed: int, n_pairs: int) -> None:
    """With room for nobody, for one column and for all: the same caps as by counting anew."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (200, 3), dtype=np.uint8)
    codes[:, 1] = np.where(rng.random(200) < 0.9, codes[:, 0], codes[:, 1])
    problem, asked = unlabelled(codes), np.array([0, 1, 2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "MOST_PAIRS", n_pairs)
        copies = Copies(problem)
    for chosen in ([1], [2, 1], [2], [0, 1, 2]):
        for gains in (rng.random(3), np.full(3, np.inf)):
            anew = Copies(problem).caps(asked, chosen, gains)
            assert copies.caps(asked, chosen, gains).tolist() == anew.tolist()


@pytest.mark.parametrize("n_values", [150, 250])
def test_a_column_of_many_values_knows_little_by_having_few_rows_for_each(n_values: int) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (600, 2), dtype=np.uint8)
    codes[:, 1] = rng.integers(0, n_values, 600)
    assert unknown(Copies(unlabelled(codes)), 0, [1], np.log(3)) > 0.7 * np.log(3)


def test_an_id_knows_nothing() -> None:
    codes = np.arange(200, dtype=np.uint8)[:, None].repeat(2, axis=1)
    codes[:, 0] %= 4
    assert unknown(Copies(unlabelled(codes)), 0, [1], 2.0) == pytest.approx(np.log(4))


def test_a_copy_adds_nothing_although_a_level_of_it_was_seen_once() -> None:
    codes = np.repeat(np.arange(3, dtype=np.uint8), [60, 60, 1])[:, None].repeat(2, axis=1)
    assert unknown(Copies(unlabelled(codes)), 0, [1], 1.0) == 0
