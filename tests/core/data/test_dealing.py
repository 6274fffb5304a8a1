from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arrays import Ints, Values
from core.config import SelectionConfig
from core.data import dealing
from core.data.dealing import Dealt, deal_folds
from core.data.preparation import prepare
from core.data.table import Table
from core.pipeline import select_features
from core.results.selection import SelectionResult

Columns = dict[str, Values]


def table_of(columns: Columns, weight_column: str | None = None) -> Table:
    config = SelectionConfig(n_threads=1, weight_column=weight_column)
    return prepare(columns, "y", config, lambda _: None).table


def rows_of(dealt: Dealt) -> list[tuple[int, ...]]:
    return [tuple(row) for row in np.vstack([dealt.table.at_hand, dealt.table.labels]).T.tolist()]


def by_fold(dealt: Dealt) -> Counter[tuple[tuple[int, ...], int, float]]:
    """How many rows hold what, in which fold, and their weights."""
    return Counter(
        zip(rows_of(dealt), dealt.folds.tolist(), dealt.table.weights.tolist(), strict=True)
    )


def selected(columns: Columns, weight_column: str | None = None) -> SelectionResult:
    return select_features(columns, "y", SelectionConfig(n_threads=1, weight_column=weight_column))


def bits(n_rows: int, n_columns: int, seed: int = 0) -> Columns:
    """Two of these tell .184 nats."""
    rng = np.random.default_rng(seed)
    columns = {f"c{n}": rng.integers(0, 2, n_rows) for n in range(n_columns)}
    label = rng.random(n_rows) < 0.1 + 0.4 * columns["c0"] + 0.4 * columns["c1"]
    return columns | {"y": label.astype(np.int64)}


def noise(n_rows: int, levels: int, seed: int = 0) -> Columns:
    rng = np.random.default_rng(seed)
    columns = {f"c{n}": rng.integers(0, levels, n_rows) for n in range(20)}
    return columns | {"y": rng.integers(0, 2, n_rows)}


def taken(columns: Columns, rows: Ints) -> Columns:
    return {name: values[rows] for name, values in columns.items()}


COPIED: dict[str, Callable[[np.random.Generator, Ints], Ints]] = {
    "every row thrice": lambda rng, _: np.repeat(np.arange(400), 3),
    "drawn with replacement": lambda rng, _: rng.integers(0, 400, 400),
    "one class drawn more often": lambda rng, y: np.concatenate(
        [np.arange(400), rng.choice(np.flatnonzero(y), 400)]
    ),
}


@pytest.mark.parametrize("how", COPIED)
def test_copies_share_a_fold(how: str) -> None:
    columns = noise(400, 3)
    copied = taken(columns, COPIED[how](np.random.default_rng(1), columns["y"]))
    dealt = deal_folds(table_of(copied), 5)
    folds_of: dict[tuple[int, ...], int] = {}
    for row, fold in zip(rows_of(dealt), dealt.folds.tolist(), strict=True):
        assert folds_of.setdefault(row, fold) == fold
    assert len(set(folds_of.values())) == 5


@pytest.mark.parametrize(
    "columns",
    [
        bits(600, 3),
        {"a": (a := np.arange(300) % 2), "b": a, "y": a},
        {"a": (a := np.arange(300) % 2), "b": (b := np.arange(300) // 2 % 2), "y": a ^ b},
    ],
    ids=["with errors", "a copy of the label", "exclusive or without errors"],
)
def test_rows_of_few_values_are_dealt_one_by_one(columns: Columns) -> None:
    dealt = deal_folds(table_of(columns), 5)
    held_by = Counter(zip(rows_of(dealt), dealt.folds.tolist(), strict=True))
    for row, n_rows in Counter(rows_of(dealt)).items():
        assert n_rows < 10 or max(held_by[row, fold] for fold in range(5)) < n_rows
    sizes = np.bincount(dealt.folds * 2 + dealt.table.labels).reshape(5, 2)
    assert (np.ptp(sizes, axis=0) <= 1).all()


def test_equal_rows_are_dealt_by_chance_not_evenly() -> None:
    """Where every fold holds the same of them, chance tells about rows held out."""
    dealt = deal_folds(table_of(bits(4000, 3)), 5)
    held_by = Counter(zip(rows_of(dealt), dealt.folds.tolist(), strict=True))
    spread = [
        sum((held_by[row, fold] - n / 5) ** 2 for fold in range(5)) / (n * 0.8)
        for row, n in Counter(rows_of(dealt)).items()
    ]
    assert 0.5 < np.mean(spread) < 1.5


@pytest.mark.parametrize("columns", [bits(300, 4), taken(noise(100, 3), np.arange(300) % 100)])
def test_the_order_of_rows_does_not_matter(columns: Columns) -> None:
    dealt = deal_folds(table_of(columns), 5)
    shuffled = taken(columns, np.random.default_rng(2).permutation(300))
    assert by_fold(dealt) == by_fold(deal_folds(table_of(shuffled), 5))


@given(st.integers(2, 6), st.integers(0, 3), st.integers(1, 30))
def test_a_whole_weight_is_so_many_rows(n_columns: int, seed: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    columns = bits(60, n_columns, seed)
    weights = rng.integers(1, most + 1, 60)
    weighted = deal_folds(table_of(columns | {"w": weights}, "w"), 5)
    repeated = deal_folds(table_of(taken(columns, np.repeat(np.arange(60), weights))), 5)
    counts: list[Counter[tuple[tuple[int, ...], int]]] = []
    for dealt in (weighted, repeated):
        held: Counter[tuple[tuple[int, ...], int]] = Counter()
        for (row, fold, weight), n in by_fold(dealt).items():
            held[row, fold] += round(weight) * n
        counts.append(held)
    assert counts[0] == counts[1]


def test_of_great_weights_a_sample_is_dealt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dealing, "CROSS_ROWS", 1000)
    cells, weights = np.unique(
        np.column_stack(list(bits(5000, 3).values())), axis=0, return_counts=True
    )
    columns = dict(zip(("c0", "c1", "c2", "y"), cells.T, strict=True))
    dealt = deal_folds(table_of(columns | {"w": weights * 1000}, "w"), 5)
    assert dealt.table.n_rows == 1000 and dealt.table.row_weights is None
    drawn = Counter(rows_of(dealt))
    for row, weight in zip(map(tuple, cells.tolist()), weights, strict=True):
        assert abs(drawn[row] - weight / 5) <= 1


def test_weights_that_are_no_counts_stay_with_their_rows() -> None:
    columns: Columns = {**bits(300, 3), "w": np.random.default_rng(0).random(300)}
    dealt = deal_folds(table_of(columns, "w"), 5)
    assert dealt.table.n_rows == 300
    shuffled = np.random.default_rng(1).permutation(300)
    again = deal_folds(table_of(taken(columns, shuffled), "w"), 5)
    assert by_fold(dealt) == by_fold(again)


def test_what_few_bits_tell_is_what_is_said_of_them() -> None:
    for n_columns in (2, 4, 8):
        result = selected(bits(5000, n_columns))
        assert sorted(result.names) == ["c0", "c1"]
        assert result.held_out is not None
        told, error = result.held_out.information[2], result.held_out.standard_error[2]
        assert abs(told - 0.184) < 3 * error


def test_cells_with_counts_tell_what_their_rows_tell() -> None:
    columns = bits(5000, 3)
    cells, weights = np.unique(np.column_stack(list(columns.values())), axis=0, return_counts=True)
    counted = dict(zip(columns, cells.T, strict=True)) | {"w": weights}
    by_cells, by_rows = selected(counted, "w"), selected(columns)
    assert sorted(by_cells.names) == ["c0", "c1"]
    assert by_cells.held_out is not None and by_rows.held_out is not None
    told = by_cells.held_out.information
    np.testing.assert_allclose(told, by_rows.held_out.information, atol=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_rare_flags_that_tell_are_found(seed: int) -> None:
    rng = np.random.default_rng(500 + seed)
    flags = (rng.random((1000, 20)) < 0.03).astype(np.int64)
    label = rng.random(1000) < 1 / (1 + np.exp(1 - 3 * flags[:, :3].sum(axis=1)))
    columns = {f"c{n}": flags[:, n] for n in range(20)} | {"y": label.astype(np.int64)}
    assert sorted(selected(columns).names) == ["c0", "c1", "c2"]


def test_noise_in_few_bits_or_in_copies_tells_nothing() -> None:
    kept = 0
    for seed in range(5):
        thrice = taken(noise(200, 3, seed), np.arange(600) % 200)
        few = {name: values for name, values in noise(500, 2, seed).items() if name < "c6"}
        kept += sum(len(selected(c).names) > 0 for c in (few | {"y": noise(500, 2)["y"]}, thrice))
    assert kept <= 1
