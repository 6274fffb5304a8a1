"""Splits, folds and halves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.data.draws import draw_rows
from core.data.resampling import draw_half, stratified_split
from core.data.table import Table
from core.errors import InvalidData
from tests.core.rivals.problems import random_problem

LABELS = np.repeat([0, 1, 2, 3], [50, 30, 7, 1])


def test_parts_are_disjoint_complete_and_proportional() -> None:
    for index in range(5):
        split = stratified_split(LABELS, 0.3, seed=1, index=index)
        assert sorted([*split.train, *split.test]) == list(range(len(LABELS)))
        assert np.bincount(LABELS[split.test], minlength=4).tolist() == [15, 9, 2, 0]


def test_every_class_stays_in_training() -> None:
    labels = np.repeat(np.arange(20), 2)
    for index in range(10):
        split = stratified_split(labels, 0.9, seed=0, index=index)
        assert set(labels[split.train]) == set(range(20))


def test_a_split_depends_on_seed_and_index_alone() -> None:
    third = [stratified_split(LABELS, 0.3, seed=4, index=i) for i in range(3)][2].test.tolist()
    assert third == stratified_split(LABELS, 0.3, seed=4, index=2).test.tolist()
    assert third != stratified_split(LABELS, 0.3, seed=4, index=1).test.tolist()
    assert third != stratified_split(LABELS, 0.3, seed=5, index=2).test.tolist()


def test_sizes_add_up_when_every_class_is_rounded() -> None:
    labels = np.repeat(np.arange(10), 5)
    assert len(stratified_split(labels, 0.3, seed=0, index=0).test) == 15


def test_nothing_to_hold_out_is_refused() -> None:
    with pytest.raises(InvalidData, match="every class has too few"):
        stratified_split(np.arange(4), 0.3, seed=0, index=0)


def test_samples_have_every_class_in_its_proportion() -> None:
    labels = np.repeat([0, 1, 2], [700, 200, 100]).astype(np.uint8)
    rows = draw_rows(labels, 100, 0)
    assert np.bincount(labels[rows]).tolist() == [70, 20, 10]
    assert len(np.unique(rows)) == 100
    assert np.array_equal(rows, draw_rows(labels, 100, 0))


def test_weights_count_like_rows() -> None:
    rng = np.random.default_rng(0)
    labels, weights = rng.integers(0, 2, 400), rng.integers(1, 9, 400).astype(float)
    for index in range(5):
        test = stratified_split(labels, 0.3, 0, index, weights).test
        held = np.bincount(labels[test], weights[test]) / np.bincount(labels, weights)
        assert held == pytest.approx([0.3, 0.3], abs=0.03)


def test_a_heavy_row_is_not_torn_apart_and_its_class_stays_in_training() -> None:
    labels, weights = np.array([0, 0, 0, 1, 1]), np.array([1.0, 1.0, 1.0, 1000.0, 1.0])
    for index in range(10):
        split = stratified_split(labels, 0.5, 0, index, weights)
        assert set(labels[split.train]) == {0, 1}


def test_halves_have_no_row_twice_and_keep_every_class() -> None:
    problem = Table.of_codes(replace(random_problem(2), row_weights=np.arange(90.0)))
    half, again, other = (draw_half(problem, index) for index in (4, 4, 5))
    assert len(np.unique(half.weights)) == half.n_rows
    halves = np.bincount(problem.labels) / 2
    assert (np.abs(np.bincount(half.labels) - halves) <= 0.5).all()
    assert np.array_equal(half.weights, again.weights)
    assert not np.array_equal(half.weights, other.weights)


def test_a_class_of_one_row_is_in_every_half() -> None:
    problem = Table.of_codes(random_problem(2))
    problem.labels[:] = 0
    problem.labels[7] = 1
    assert all(1 in draw_half(problem, index).labels for index in range(10))
