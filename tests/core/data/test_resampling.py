"""Splits, folds and bootstrap samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.data.resampling import draw_sample, stratified_folds, stratified_split
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
    with pytest.raises(InvalidData, match="every class has a single row"):
        stratified_split(np.arange(4), 0.3, seed=0, index=0)


def test_folds_keep_the_proportions_of_the_classes() -> None:
    labels = np.repeat([0, 1, 2], [50, 25, 3]).astype(np.uint8)
    folds = stratified_folds(labels, 5, 0)
    counts = np.array([np.bincount(folds[labels == c], minlength=5) for c in range(3)])
    assert (counts.max(axis=1) - counts.min(axis=1) <= 1).all()
    assert (stratified_folds(labels, 5, 0) == folds).all()


def test_samples_are_weights_and_keep_every_class() -> None:
    problem = replace(random_problem(2), row_weights=np.full(90, 2.0))
    sample, again, other = (draw_sample(problem, index) for index in (4, 4, 5))
    by_class = np.bincount(sample.labels, sample.weights)
    assert by_class.tolist() == (2 * np.bincount(problem.labels)).tolist()
    assert 40 < sample.n_rows < 75  # about 63 %
    assert np.array_equal(sample.codes, again.codes)
    assert np.array_equal(sample.weights, again.weights)
    assert not np.array_equal(sample.weights, other.weights)
