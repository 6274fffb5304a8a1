"""The curve of the nearest neighbour against one distance matrix for every K."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from core import budgets
from core.experiments.nearest import Known, ask_nearest, scale_values


def naive_answers(
    known: Known, test: NDArray[Any], labels: NDArray[Any], ordered: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Every distance by the definition, missing values as None."""
    train, targets = known.values, known.targets
    weights = np.ones(len(train)) if known.weights is None else known.weights
    right, means = np.zeros((2, len(test), train.shape[1]))
    for k in range(1, train.shape[1] + 1):
        for i, row in enumerate(test):
            distances = [_distance(row[:k], other[:k], train, ordered) for other in train]
            near = np.flatnonzero(np.array(distances) == min(distances))
            hits = known.labels[near] == labels[i]
            right[i, k - 1] = np.average(hits, weights=weights[near])
            if targets is not None:
                means[i, k - 1] = np.average(targets[near], weights=weights[near])
    return right, means


def _distance(
    one: NDArray[Any], other: NDArray[Any], train: NDArray[Any], ordered: NDArray[np.bool_]
) -> float:
    total = 0.0
    for column, (a, b) in enumerate(zip(one, other, strict=True)):
        known = train[:, column][train[:, column] != 255].astype(float)
        if 255 in (a, b):
            total += (known.max() - known.min()) ** 2 if ordered[column] else 1
        else:
            total += (float(a) - float(b)) ** 2 if ordered[column] else float(a != b)
    return total


def coded_rows(seed: int, n_rows: int, *, missing: bool) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n_rows)
    codes = ((labels[:, None] + rng.integers(0, 4, (n_rows, 6))) % 5).astype(np.uint8)
    if missing:
        codes[rng.random(codes.shape) < 0.2] = 255
    return codes, labels


ORDERED = np.array([True, False, True, True, False, True])


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_answers_agree_with_the_definition(seed: int, missing: bool) -> None:
    codes, labels = coded_rows(seed, 90, missing=missing)
    rng = np.random.default_rng(seed)
    weights, targets = rng.uniform(0.5, 4, 60), 1e9 + rng.normal(0, 30, 60)
    for known in (
        Known(codes[:60], labels[:60]),
        Known(codes[:60], labels[:60], weights, targets),
    ):
        found = ask_nearest(known, codes[60:], labels[60:], ORDERED)
        right, means = naive_answers(known, codes[60:], labels[60:], ORDERED)
        assert found.right == pytest.approx(right, abs=1e-6)
        assert found.target == pytest.approx(means, rel=1e-12, abs=1e-3)


def test_a_row_of_weight_two_is_two_rows() -> None:
    codes, labels = coded_rows(4, 90, missing=True)
    weights = np.tile([1.0, 2.0, 3.0], 20)
    rows = np.repeat(np.arange(60), weights.astype(int))
    about = (codes[60:], labels[60:], ORDERED)
    weighted = ask_nearest(Known(codes[:60], labels[:60], weights), *about).right
    repeated = ask_nearest(Known(codes[rows], labels[rows]), *about).right
    assert weighted == pytest.approx(repeated, abs=1e-6)


def test_nobody_can_tell_that_rows_are_known_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, labels = coded_rows(3, 4000, missing=True)
    order = np.array([4, 0, 2])
    rng = np.random.default_rng(0)
    known = Known(codes[:3900], labels[:3900], rng.random(3900), rng.normal(size=3900), order)
    about = (codes[3900:, order], labels[3900:], ORDERED[order])
    whole = ask_nearest(known, *about)
    monkeypatch.setattr(budgets, "KNOWN_CELLS", 1)
    told: list[float] = []
    parts = ask_nearest(known, *about, n_threads=2, on_progress=told.append)
    assert told == sorted(told) and told[-1] == 1
    assert parts.right.tobytes() == whole.right.tobytes()
    assert parts.target.tobytes() == whole.target.tobytes()
    chosen = Known(codes[:3900, order], *(known.labels, known.weights, known.targets))
    assert ask_nearest(chosen, *about).right.tobytes() == whole.right.tobytes()


def test_only_the_stops_are_answered() -> None:
    codes, labels = coded_rows(6, 90, missing=True)
    known, about = Known(codes[:60], labels[:60]), (codes[60:], labels[60:], ORDERED)
    every = ask_nearest(known, *about).right
    some = ask_nearest(known, *about, np.array([2, 3, 6])).right
    assert some.tolist() == every[:, [1, 2, 5]].tolist()


def test_curve_agrees_with_scikit_learn_on_numbers_over_several_blocks() -> None:
    rng = np.random.default_rng(0)
    values, labels = rng.random((3000, 4)), rng.integers(0, 5, 3000)
    known, ordered = Known(values[:2500], labels[:2500]), np.ones(4, dtype=np.bool_)
    found = ask_nearest(known, values[2500:], labels[2500:], ordered).right.mean(axis=0)
    for k in range(1, 5):
        model = KNeighborsClassifier(1).fit(values[:2500, :k], labels[:2500])
        assert found[k - 1] == pytest.approx(
            model.score(values[2500:, :k], labels[2500:]), abs=0.005
        )


def test_equally_near_rows_share_the_decision() -> None:
    train = np.zeros((3000, 1), dtype=np.uint8)
    known = Known(train, np.repeat(["a", "b"], [1000, 2000]))
    found = ask_nearest(known, train[:1], np.array(["b"]), np.ones(1, dtype=np.bool_))
    assert found.right == pytest.approx(np.array([[2 / 3]]))


def test_threads_change_nothing_and_progress_can_cancel() -> None:
    codes, labels = coded_rows(5, 300, missing=True)
    known = Known(codes[:200], labels[:200])
    about = (known, codes[200:], labels[200:], np.ones(6, dtype=np.bool_))
    one, three = (ask_nearest(*about, n_threads=n).right for n in (1, 3))
    assert one.tolist() == three.tolist()

    def cancel(fraction: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        ask_nearest(*about, on_progress=cancel)


def test_raw_values_are_scaled_by_the_training_part() -> None:
    rng = np.random.default_rng(3)
    labels = np.tile([0, 1], 50)
    values = np.column_stack([labels + rng.normal(0, 0.1, 100), rng.normal(0, 1000, 100)])
    ordered = np.ones(2, dtype=np.bool_)
    train, test = scale_values(values[:70], values[70:], ordered)
    assert (train.min(), train.max()) == (0, 1)
    found = ask_nearest(Known(train, labels[:70]), test, labels[70:], ordered)
    assert found.right.mean(axis=0).min() > 0.95


def test_time_stamps_that_lie_close_together_are_scaled() -> None:
    stamps = 1.7e9 + np.linspace(0, 50, 11)[:, None]
    train, _ = scale_values(stamps, stamps, np.ones(1, dtype=np.bool_))
    assert train[:, 0] == pytest.approx(np.linspace(0, 1, 11))
