"""What a column adds to the chosen one most alike, against counting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arrays import Bytes, Floats
from core.config import GsmCpd, SelectionConfig
from core.cpd.ladder import count_classes
from core.data.problem import CodedProblem
from core.gsm import repeats as module
from core.gsm.copies import Copies
from core.gsm.repeats import Repeats, repeats_of
from core.pipeline import select_features
from tests.core import reference
from tests.core.rivals.problems import unlabelled
from tests.core.worlds import examples


def drawn(seed: int, n_rows: int = 60) -> tuple[Bytes, Bytes]:
    """Codes of four columns, the second much like the first, and a label that follows them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (n_rows, 4), dtype=np.uint8)
    codes[:, 1] = np.where(rng.random(n_rows) < 0.7, codes[:, 0], codes[:, 1])
    codes[rng.random(codes.shape) < 0.05] = 255
    return codes, (rng.random(n_rows) < 0.2 + 0.3 * (codes[:, 0] % 3)).astype(np.uint8)


def problem_of(codes: Bytes, labels: Bytes, weights: Floats | None = None) -> CodedProblem:
    return replace(unlabelled(codes, weights), labels=labels, n_classes=2)


def repeats_in(codes: Bytes, labels: Bytes, weights: Floats | None = None) -> Repeats:
    problem = problem_of(codes, labels, weights)
    return Repeats(problem, Copies(problem))


@examples(20)
@given(st.integers(0, 10**6))
def test_caps_are_counted_beside_the_column_most_alike(seed: int) -> None:
    codes, labels = drawn(seed)
    weights = np.random.default_rng(seed).integers(1, 4, len(codes))
    rows, classes = np.repeat(codes, weights, axis=0), np.repeat(labels, weights)
    unknown = {c: reference.conditional_entropy(rows[:, 0], rows[:, c]) for c in (3, 1, 2)}
    nearest = min(unknown, key=lambda c: unknown[c])
    expected = reference.told_beside(rows[:, 0], rows[:, nearest], classes)
    repeats = repeats_in(codes, labels, weights.astype(np.float64))
    feature = np.array([0])
    assert repeats.caps(feature, [])[0] == np.inf
    for n_chosen in (1, 2, 3):  # what was chosen before is not counted again
        found = repeats.caps(feature, list(unknown)[:n_chosen])[0]
    assert found == pytest.approx(expected, abs=1e-9)


def test_a_column_that_adds_something_of_its_own_is_not_held_back() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (4000, 3), dtype=np.uint8)
    codes[:, 2] = np.where(rng.random(4000) < 0.05, 1 - codes[:, 0], codes[:, 0])
    labels = (rng.random(4000) < 0.1 + 0.4 * codes[:, 0] + 0.4 * codes[:, 1]).astype(np.uint8)
    own, repeated = repeats_in(codes, labels).caps(np.array([1, 2]), [0])
    assert own > 0.09
    assert repeated < 0.005


def test_of_many_rows_a_sample_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, labels = drawn(1, n_rows=6000)
    every = repeats_in(codes, labels).caps(np.array([0, 2]), [1])
    monkeypatch.setattr(module, "CROSS_ROWS", 3000)
    few = repeats_in(codes, labels).caps(np.array([0, 2]), [1])
    assert few.tolist() != every.tolist()
    assert few == pytest.approx(every, abs=0.03)


def test_only_one_state_for_each_class_is_held_against_the_rows() -> None:
    codes, labels = drawn(0)
    problem = problem_of(codes, labels)
    sizes = np.bincount(labels).astype(float)
    one_each = count_classes(np.ones((12, 2)), np.arange(0, 13, 3), sizes, 1.0)
    two_each = replace(
        one_each,
        weights=np.repeat(one_each.weights / 2, 2),
        factors=[np.repeat(factor, 2, axis=1) for factor in one_each.factors],
    )
    copies = Copies(problem)
    assert repeats_of(problem, copies, GsmCpd(), one_each) is not None
    assert repeats_of(problem, copies, GsmCpd(), two_each) is None
    assert repeats_of(problem, copies, GsmCpd(objective="latent"), one_each) is None
    assert repeats_of(problem, copies, GsmCpd(family="joint"), one_each) is None


def test_what_says_the_same_with_an_error_each_comes_after_what_says_another_thing() -> None:
    rng = np.random.default_rng(0)
    told = rng.normal(size=(3, 600))
    columns = {f"{t}{i}": told[t] + 0.1 * rng.normal(size=600) for t in range(3) for i in range(3)}
    columns["y"] = (rng.random(600) < 1 / (1 + np.exp(-2 * told.sum(axis=0)))).astype(np.int64)
    result = select_features(columns, "y", SelectionConfig(9, n_threads=1))
    assert result.rank == 2
    assert {name[0] for name in result.names[:3]} == {"0", "1", "2"}
    assert result.suggested_k == 3
