"""The curve of the nearest neighbour against one distance matrix for every K."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from core.config import Evaluate
from core.data.resampling import stratified_split
from core.experiments.nearest import evaluate_split, nearest_neighbour_curve


def naive_curve(
    train: NDArray[Any],
    test: NDArray[Any],
    train_labels: NDArray[Any],
    test_labels: NDArray[Any],
    ordered: NDArray[np.bool_],
) -> list[float]:
    """Every distance by the definition, missing values as None."""
    curve = []
    for k in range(1, train.shape[1] + 1):
        hits = 0.0
        for row, label in zip(test, test_labels, strict=True):
            distances = [_distance(row[:k], other[:k], train, ordered) for other in train]
            nearest = np.flatnonzero(np.array(distances) == min(distances))
            hits += float(np.mean(train_labels[nearest] == label))
        curve.append(hits / len(test))
    return curve


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


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_curve_agrees_with_the_definition(seed: int, missing: bool) -> None:
    codes, labels = coded_rows(seed, 90, missing=missing)
    ordered = np.array([True, False, True, True, False, True])
    parts = (codes[:60], codes[60:], labels[:60], labels[60:], ordered)
    assert nearest_neighbour_curve(*parts).tolist() == pytest.approx(naive_curve(*parts))


def test_curve_agrees_with_scikit_learn_on_numbers_over_several_blocks() -> None:
    rng = np.random.default_rng(0)
    values, labels = rng.random((3000, 4)), rng.integers(0, 5, 3000)
    parts = (values[:2500], values[2500:], labels[:2500], labels[2500:])
    found = nearest_neighbour_curve(*parts, np.ones(4, dtype=np.bool_))
    for k in range(1, 5):
        model = KNeighborsClassifier(1).fit(values[:2500, :k], labels[:2500])
        assert found[k - 1] == pytest.approx(
            model.score(values[2500:, :k], labels[2500:]), abs=0.005
        )


def test_equally_near_rows_share_the_decision() -> None:
    train = np.zeros((3000, 1), dtype=np.uint8)
    labels = np.repeat(["a", "b"], [1000, 2000])
    ordered = np.ones(1, dtype=np.bool_)
    curve = nearest_neighbour_curve(train, train[:1], labels, np.array(["b"]), ordered)
    assert curve.tolist() == pytest.approx([2 / 3])


def test_threads_change_nothing_and_progress_can_cancel() -> None:
    codes, labels = coded_rows(5, 300, missing=True)
    ordered = np.ones(6, dtype=np.bool_)
    parts = (codes[:200], codes[200:], labels[:200], labels[200:], ordered)
    one, three = (nearest_neighbour_curve(*parts, n_threads=n) for n in (1, 3))
    assert one.tolist() == three.tolist()

    def cancel(fraction: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        nearest_neighbour_curve(*parts, on_progress=cancel)


def test_raw_values_are_scaled_by_the_training_part() -> None:
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1], 50)
    values = np.column_stack([labels + rng.normal(0, 0.1, 100), rng.normal(0, 1000, 100)])
    config = Evaluate(values="raw")
    split = stratified_split(labels, 0.3, seed=0, index=0)
    found = evaluate_split([0, 1], values, np.ones(2, dtype=np.bool_), labels, split, config)
    assert found.min() > 0.95


def test_moments_close_to_each_other_are_told_apart() -> None:
    labels = np.repeat([0, 1], 50)
    moments = 1.6e9 + np.arange(100.0)[:, None] / 2
    split = stratified_split(labels, 0.3, seed=0, index=0)
    config = Evaluate(values="raw")
    found = evaluate_split([0], moments, np.ones(1, dtype=np.bool_), labels, split, config)
    assert found.min() > 0.9
