"""Pairs that tell what neither column does, against counts by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.special import chdtri, xlogy

from core.arrays import MISSING, Bytes, Floats, Ints
from core.config import SelectionConfig
from core.data.preparation import prepare
from core.data.table import Table
from core.gsm import together
from core.gsm._pair_kernels import in_bits, tell_alone, tell_together, tell_together_once
from core.gsm.together import find_focus
from core.pipeline import select_features

Columns = dict[str, np.ndarray]


def table_of(columns: Columns) -> Table:
    return prepare(columns, "y", SelectionConfig(), lambda _: None).table


def exclusive_or(n: int, seed: int = 0) -> Columns:
    """Two bits that count together, and eight that follow a hidden one."""
    rng = np.random.default_rng(seed)
    left, right, hidden = rng.integers(0, 2, (3, n))
    block = {f"block{i}": hidden ^ (rng.random(n) < 0.1) for i in range(8)}
    label = left ^ right ^ (rng.random(n) < 0.05)
    return {**block, "left": left, "right": right, "y": label}


def twice_nats(codes: Ints, labels: Ints, weights: Floats) -> tuple[float, int]:
    """2 N I(code; label), by a table of counts."""
    table = np.zeros((int(codes.max()) + 1, int(labels.max()) + 1))
    np.add.at(table, (codes, labels), weights)
    entropy = [xlogy(sums, sums).sum() for sums in (table, table.sum(1), table.sum(0))]
    total = table.sum()
    nats = entropy[0] - entropy[1] - entropy[2] + xlogy(total, total)
    return 2 * float(nats), int(np.count_nonzero(table.sum(axis=1)))


def found_by_hand(codes: Bytes, labels: Ints, weights: Floats, chance: Floats) -> set[int]:
    found: set[int] = set()
    for a, b in combinations(range(len(codes)), 2):
        one, other = (twice_nats(codes[n].astype(int), labels, weights) for n in (a, b))
        both = codes[a].astype(int) * 4 + codes[b]
        told, cells = twice_nats(both, labels, weights)
        better = one if one[0] >= other[0] else other
        freedom = max((cells - better[1]) * int(labels.max()), 1)
        found |= {a, b} if told - better[0] > chance[freedom] else set()
    return found


@pytest.mark.parametrize("seed", range(5))
def test_kernels_count_as_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (7, 300)).astype(np.uint8)
    labels = (codes[0] + codes[1] + rng.integers(0, 2, 300)).astype(np.int64) % 3
    weights = rng.integers(0, 3, 300).astype(float)
    told, levels = tell_alone(codes, labels, weights, 3, 4)
    by_hand = [twice_nats(column.astype(int), labels, weights) for column in codes]
    np.testing.assert_allclose(told, [nats for nats, _ in by_hand], atol=1e-9)
    assert levels.tolist() == [n for _, n in by_hand]
    chance = np.concatenate([[np.inf], chdtri(np.arange(1, 50), 0.2)])
    found, nobody = np.zeros(7, dtype=bool), np.zeros(7, dtype=bool)
    tell_together(codes, labels, weights, 3, 4, told, levels, nobody, chance, 0, 7, found)
    assert set(np.flatnonzero(found)) == found_by_hand(codes, labels, weights, chance)
    assert found[:2].all()


@pytest.mark.parametrize("seed", range(5))
def test_bits_count_as_rows_that_count_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_classes = int(rng.integers(1, 400)), int(rng.integers(2, 5))
    codes = rng.integers(0, 4, (7, n_rows)).astype(np.uint8)
    labels = (codes[0] + codes[1] + rng.integers(0, 2, n_rows)).astype(np.int64) % n_classes
    once = np.ones(n_rows)
    told, levels = tell_alone(codes, labels, once, n_classes, 4)
    chance = np.concatenate([[np.inf], chdtri(np.arange(1, 100), 0.2)])
    alone = rng.random(7) < 0.4
    by_rows, by_bits = np.zeros((2, 7), dtype=bool)
    rest = (told, levels, alone, chance, 0, 7)
    tell_together(codes, labels, once, n_classes, 4, *rest, by_rows)
    bits, starts = in_bits(codes, labels, n_classes, 4)
    for n_logs in (0, 10, n_rows + 1):
        counts = np.arange(n_logs, dtype=np.float64)
        logs: Floats = xlogy(counts, counts).astype(np.float64)
        tell_together_once(bits, starts, logs, *rest, by_bits)
        assert by_bits.tolist() == by_rows.tolist()
        by_bits[:] = False


def test_the_two_sides_of_an_exclusive_or_are_found_and_nobody_else() -> None:
    columns = exclusive_or(600)
    focus = find_focus(table_of(columns))
    assert [list(columns)[n] for n in focus] == ["left", "right"]


def test_only_the_rows_asked_for_are_counted() -> None:
    columns = exclusive_or(1200)
    columns["y"][600:] = np.random.default_rng(1).integers(0, 2, 600)
    table = table_of(columns)
    assert find_focus(table, np.arange(600)) == (8, 9)
    assert find_focus(table, np.arange(600, 1200)) == ()


@pytest.mark.parametrize("seed", range(3))
def test_noise_and_columns_that_tell_alone_need_no_focus(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns: Columns = {f"x{i}": rng.normal(size=400) for i in range(12)}
    assert find_focus(table_of({**columns, "y": rng.integers(0, 3, 400)})) == ()
    label = columns["x0"] + columns["x1"] + rng.normal(size=400) > 0
    assert find_focus(table_of({**columns, "y": label})) == ()


def test_missing_values_are_a_level_like_others() -> None:
    columns = exclusive_or(800)
    left = columns["left"].astype(float)
    left[left == 1] = np.nan
    left[0] = 5.0
    columns["left"] = left
    table = table_of(columns)
    assert (table.at_hand[8] == MISSING).any()
    assert find_focus(table) == (8, 9)


def test_where_pairs_are_too_many_fewer_rows_are_counted_and_then_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = table_of(exclusive_or(2000))
    monkeypatch.setattr(together, "MAX_PAIR_COUNTS", 45 * 700)
    assert find_focus(table) == (8, 9)
    monkeypatch.setattr(together, "MAX_PAIR_COUNTS", 45 * 400)
    assert find_focus(table) == ()


def test_a_selection_finds_them_among_columns_that_explain_each_other() -> None:
    result = select_features(exclusive_or(800), "y", SelectionConfig())
    assert set(result.names) == {"left", "right"}
    assert any("only together" in note and "left, right" in note for note in result.notes)
    assert result.held_out is not None
    assert result.held_out.information[2] > 0.3
