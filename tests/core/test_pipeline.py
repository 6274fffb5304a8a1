"""The one door: named columns in, the right features out, the same bytes every time."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import pytest

from core.callbacks import Enough
from core.config import (
    STRATEGIES,
    Bootstrap,
    Columns,
    Compare,
    Evaluate,
    GsmCpd,
    Jmi,
    Method,
    Mrmr,
    Objective,
    SelectionConfig,
)
from core.crossfit import folds
from core.fit_config import Family
from core.pipeline import select_features
from core.results.selection import EXPERIMENTS, Progress, SelectionResult
from tests.core.tables import QUICK, mixed_table, quick, xor_table

METHODS = [
    replace(QUICK, family=family, objective=objective)
    for family in get_args(Family)
    for objective in get_args(Objective)
]


def identity(result: SelectionResult) -> bytes:
    arrays = b"".join(array.tobytes() for array in result.to_arrays().values())
    return json.dumps(result.to_json()).encode() + arrays


@pytest.mark.parametrize("method", METHODS)
def test_traces_rise_and_agree_with_the_gains(method: GsmCpd) -> None:
    result = select_features(mixed_table(), "y", quick(5, method=method))
    before_latent = before_label = 0.0
    for rank, chosen in enumerate(result.selected, start=1):
        assert chosen.rank == rank
        assert chosen.mi_latent is not None and chosen.mi_label is not None
        assert chosen.gain_latent == pytest.approx(chosen.mi_latent - before_latent)
        assert chosen.gain_label == pytest.approx(chosen.mi_label - before_label)
        assert chosen.gain == getattr(chosen, f"gain_{method.objective}") >= 0
        before_latent, before_label = chosen.mi_latent, chosen.mi_label
    assert len(set(result.names)) == 5
    assert not {"noise", "coin"} & set(result.names[:3])


@pytest.mark.parametrize("method", METHODS)
def test_the_band_holds_at_every_step(method: GsmCpd) -> None:
    result = select_features(mixed_table(), "y", quick(5, method=method))
    certificate = result.certificate
    assert certificate is not None
    for chosen in result.selected:
        assert chosen.mi_latent is not None and chosen.mi_label is not None
        assert chosen.mi_label <= chosen.mi_latent + 1e-9
        assert chosen.mi_latent - certificate.band <= chosen.mi_label + 0.05
    assert certificate.latent.value == pytest.approx(result.selected[-1].mi_latent)
    assert certificate.latent.upper_bound >= certificate.latent.value
    assert 1 - 1 / np.e <= certificate.latent.ratio <= 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("remodel", ["none", "step", "candidate"])
def test_threads_and_repetition_give_the_same_bytes(method: GsmCpd, remodel: Any) -> None:
    method = replace(method, remodel=remodel, n_configurations=64)
    table = mixed_table(200)
    found = [
        identity(select_features(table, "y", quick(4, method=method, n_threads=n)))
        for n in (1, 2, 3, 1)
    ]
    assert len(set(found)) == 1


@pytest.mark.parametrize("objective", get_args(Objective))
@pytest.mark.parametrize("remodel", ["none", "step"])
def test_lazy_and_naive_give_the_same_selection(objective: Objective, remodel: Any) -> None:
    method = replace(QUICK, objective=objective, remodel=remodel, n_configurations=32)
    lazy, naive = (
        select_features(mixed_table(), "y", quick(6, method=replace(method, greedy=greedy)))
        for greedy in ("lazy", "naive")
    )
    assert lazy.selected == naive.selected
    assert lazy.left_out == naive.left_out


@pytest.mark.parametrize("method", METHODS)
def test_permuting_columns_permutes_nothing_but_the_columns(method: GsmCpd) -> None:
    table = mixed_table()
    moved = dict(reversed(table.items()))
    first, second = (select_features(t, "y", quick(4, method=method)) for t in (table, moved))
    assert first.names == second.names
    for one, other in zip(first.selected, second.selected, strict=True):
        assert one.mi_latent == pytest.approx(other.mi_latent, abs=1e-3)
        assert one.mi_label == pytest.approx(other.mi_label, abs=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_permuting_rows_changes_nothing_but_rounding(method: GsmCpd) -> None:
    table = mixed_table()
    order = np.random.default_rng(0).permutation(len(table["y"]))
    moved = {name: values[order] for name, values in table.items()}
    first, second = (select_features(t, "y", quick(4, method=method)) for t in (table, moved))
    assert first.names == second.names
    for one, other in zip(first.selected, second.selected, strict=True):
        assert one.mi_latent == pytest.approx(other.mi_latent, abs=1e-3)
        assert one.mi_label == pytest.approx(other.mi_label, abs=1e-3)


def test_weights_count_like_repetition() -> None:
    table = mixed_table(150)
    counts = np.random.default_rng(3).integers(1, 4, 150)
    repeated = {name: np.repeat(values, counts) for name, values in table.items()}
    weighted = select_features({**table, "w": counts}, "y", quick(3, weight_column="w"))
    plain = select_features(repeated, "y", quick(3))
    assert weighted.selected == plain.selected
    assert weighted.left_out == plain.left_out


def test_rows_without_weight_take_no_part() -> None:
    table = mixed_table(200)
    part = {name: values[:150] for name, values in table.items()}
    table["y"][150:] = "c"
    table["w"] = np.repeat([1, 0], [150, 50])
    whole = select_features(table, "y", quick(3, weight_column="w"))
    assert whole.n_rows == 150
    assert whole.names == select_features(part, "y", quick(3)).names


@pytest.mark.parametrize("objective", get_args(Objective))
@pytest.mark.parametrize("seed", range(3))
def test_two_features_that_inform_only_together_are_found(objective: Objective, seed: int) -> None:
    method = GsmCpd(objective=objective, ranks=(8,))
    result = select_features(xor_table(seed=seed), "y", quick(2, method=method, seed=seed))
    assert sorted(result.names) == ["left", "right"]
    assert result.selected[1].mi_label == pytest.approx(np.log(2), abs=0.1)


def test_automatic_k_stops_where_noise_begins() -> None:
    table = mixed_table(1500)
    result = select_features(table, "y", quick("auto"))
    assert len(result.selected) == result.suggested_k
    assert not {"noise", "coin"} & set(result.names)
    asked = select_features(table, "y", quick(7))
    assert asked.suggested_k == result.suggested_k
    assert asked.names[: result.suggested_k] == result.names


@pytest.mark.parametrize("remodel", ["none", "step"])
def test_automatic_k_looks_beyond_columns_that_were_given(
    remodel: Literal["none", "step"],
) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    noise = {f"n{i}": rng.integers(0, 3, 600) for i in range(5)}
    method = GsmCpd(ranks=(4,), n_models=2, n_init=2, max_iter=20, remodel=remodel)
    config = quick("auto", method=method, columns=Columns(include=tuple(noise)))
    result = select_features({**noise, "x": (y + (rng.random(600) < 0.3)) % 3, "y": y}, "y", config)
    assert result.names == [*noise, "x"]


def test_constant_and_missing_columns_are_left_aside_and_named() -> None:
    table = mixed_table()
    n_rows = len(table["y"])
    last = np.arange(n_rows) == n_rows - 1
    table["y"] = np.where(last, None, table["y"])  # the last row takes no part
    table |= {"same": np.ones(n_rows), "void": np.full(n_rows, np.nan), "once": last}
    table |= {"only": np.where(last, 1.0, np.nan)}
    result = select_features(table, "y", quick(2, columns=Columns(exclude=("coin",))))
    dropped = {column.name: column.reason for column in result.dropped}
    assert dropped == {
        "coin": "excluded",
        "same": "constant",
        "void": "all_missing",
        "once": "constant",
        "only": "all_missing",
    }
    assert result.n_rows == n_rows - 1
    assert any("1 rows" in note for note in result.notes)


def test_included_excluded_and_candidates() -> None:
    table = mixed_table()
    forced = select_features(table, "y", quick(3, columns=Columns(include=("coin", "noise"))))
    assert forced.names[:2] == ["coin", "noise"]
    assert [s.decided_by for s in forced.selected[:2]] == ["included", "included"]
    only = Columns(candidates=("coin", "noise", "flag"))
    narrow = select_features(table, "y", quick(2, columns=only))
    assert narrow.names[0] == "flag"
    assert {*narrow.names, *(column.name for column in narrow.left_out)} == {
        "coin",
        "noise",
        "flag",
    }
    best = select_features(table, "y", quick(1)).names[0]
    without = select_features(table, "y", quick(3, columns=Columns(exclude=(best,))))
    assert best not in without.names


def test_a_copy_of_a_chosen_feature_is_redundant_with_it() -> None:
    table = mixed_table()
    table = {"twin": table["level"], **table}
    result = select_features(table, "y", quick(1, columns=Columns(include=("level",))))
    twin = next(column for column in result.left_out if column.name == "twin")
    assert (twin.reason, twin.redundant_with) == ("redundant", "level")
    noise = next(column for column in result.left_out if column.name == "coin")
    assert noise.redundant_with is None


def test_every_candidate_is_accounted_for() -> None:
    table = mixed_table()
    result = select_features(table, "y", quick(3))
    everyone = [
        *result.names,
        *(c.name for c in result.left_out),
        *(c.name for c in result.dropped),
    ]
    assert sorted([*everyone, "y"]) == sorted(table)
    assert [column.name for column in result.encoding] == [*list(table)[:-1], "y"]


def test_a_continuous_target_is_cut_into_quantiles() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 4))
    table = {f"x{i}": x[:, i] for i in range(4)} | {"y": np.exp(2 * x[:, 1]) + 0.1 * x[:, 0]}
    result = select_features(table, "y", quick(1))
    assert result.names == ["x1"]
    assert len(result.encoding[-1].levels) == 5


def test_more_levels_than_a_byte_are_merged_and_noted() -> None:
    table = mixed_table(900)
    table["town"] = [f"t{i % 300}" for i in range(900)]
    table["town"][:600] = [f"t{i % 100}" for i in range(600)]
    result = select_features(table, "y", quick(2))
    assert "The rarest of many levels were merged: 200 of 'town'." in result.notes


@pytest.mark.parametrize("method", [GsmCpd(ranks=(4,)), Mrmr()])
def test_a_sample_that_decides_is_noted(monkeypatch: pytest.MonkeyPatch, method: Method) -> None:
    table = mixed_table(300)
    assert not any("sample" in note for note in select_features(table, "y", quick(2)).notes)
    monkeypatch.setattr(folds, "CROSS_ROWS", 120)
    result = select_features(table, "y", SelectionConfig(2, method=method))
    assert result.held_out is not None
    assert (result.held_out.n_rows, result.n_rows) == (120, 300)
    assert any("A sample of 120 of the 300 rows" in note for note in result.notes)


def test_infinite_values_are_missing_and_noted() -> None:
    table = mixed_table(200)
    table["size"][:3] = np.inf
    table |= {f"wild{i}": [-np.inf, *range(199)] for i in range(6)}
    result = select_features(table, "y", quick(2))
    assert any("missing: 3 of 'size', 1 of 'wild0'," in note for note in result.notes)
    assert any("and some of 2 other columns." in note for note in result.notes)


def test_the_values_of_excluded_columns_are_not_looked_at() -> None:
    table = mixed_table(200)
    without = select_features({**table, "x": ()}, "y", quick(2, columns=Columns(exclude=("x",))))
    assert without.names == select_features(table, "y", quick(2)).names
    assert [(c.name, c.reason) for c in without.dropped] == [("x", "excluded")]


def test_a_rank_by_cross_validation_is_reported_whole() -> None:
    method = replace(QUICK, ranks=(2, 4, 8), n_folds=3)
    result = select_features(mixed_table(300), "y", quick(2, method=method))
    tried = {(score.strategy, score.rank) for score in result.rank_search}
    assert result.rank == result.models[0].rank
    assert any((strategy, result.rank) in tried for strategy in STRATEGIES)
    assert {rank for _, rank in tried} <= {3, 8}  # three classes, a state for each


def test_the_papers_preset() -> None:
    config = SelectionConfig.paper(2)
    assert isinstance(config.method, GsmCpd)
    assert (config.method.family, config.method.objective) == ("joint", "latent")
    assert config.method.ranks == (5, 10, 15, 20, 30)
    assert config.discretize.bins == 5
    assert len(select_features(mixed_table(200), "y", replace(config, n_threads=1)).names) == 2


def test_progress_tells_every_phase_and_choice_in_order() -> None:
    told: list[Progress] = []
    method = replace(QUICK, ranks=(2, 4), n_folds=3)
    result = select_features(mixed_table(), "y", quick(3, method=method), told.append)
    assert list(dict.fromkeys(p.phase for p in told)) == ["encode", "rank", "fit", "select"]
    fractions = [p.fraction for p in told]
    assert fractions == sorted(fractions)
    assert fractions[0] >= 0 and fractions[-1] == 1
    assert tuple(p.selected for p in told if p.selected) == result.selected


@pytest.mark.parametrize("phase", ["encode", "rank", "fit", "select"])
def test_a_run_is_stopped_by_raising(phase: str) -> None:
    def stop(progress: Progress) -> None:
        if progress.phase == phase:
            raise KeyboardInterrupt(phase)

    method = replace(QUICK, ranks=(2, 4), n_folds=3)
    for n_threads in (1, 2):
        with pytest.raises(KeyboardInterrupt, match=phase):
            select_features(mixed_table(), "y", quick(3, method=method, n_threads=n_threads), stop)


@pytest.mark.parametrize(("share", "n_done"), [(0.0, 0), (0.6, 2)])
def test_enough_of_an_experiment_ends_it_with_what_is_done(share: float, n_done: int) -> None:
    def hear(progress: Progress) -> None:
        before = 0.2 if progress.phase == "evaluate" else 0.0  # the selection is one of five parts
        if progress.phase in EXPERIMENTS and progress.fraction >= before + (1 - before) * share:
            raise Enough

    result = select_features(
        mixed_table(),
        "y",
        quick(2, method=Mrmr(), evaluate=Evaluate(n_splits=4)),
        hear,
        compare=Compare(methods=(Mrmr(), Jmi()), n_splits=4),
        bootstrap=Bootstrap(n_samples=4),
    )
    parts = {"evaluation": result.evaluation, "comparison": result.comparison}
    assert len(result.selected) == 2
    assert [(one.part, one.n_done, one.n_asked) for one in result.missing] == [
        (part, n_done, 4) for part in (*parts, "stability")
    ]
    assert [part and part.n_splits for part in parts.values()] == [n_done or None] * 2
    assert (result.stability and result.stability.n_samples) == (n_done or None)


@pytest.mark.parametrize("objective", get_args(Objective))
def test_a_copy_comes_last_and_is_called_redundant(objective: Objective) -> None:
    table = mixed_table()
    first = select_features(table, "y", quick(1, method=replace(QUICK, objective=objective)))
    original = first.names[0]
    table["copy"] = table[original]
    method = replace(QUICK, objective=objective)
    some = select_features(table, "y", quick(4, method=method))
    assert original in some.names
    double = next(one for one in some.left_out if one.name == "copy")
    assert (double.reason, double.gain) == ("redundant", 0)
    assert double.redundant_with == original


def test_ranks_with_too_few_rows_for_their_states_are_left_aside() -> None:
    table = mixed_table()
    n_rows = len(table["y"])
    method = replace(QUICK, ranks=(2, 4, n_rows // 5 + 1))
    result = select_features(table, "y", quick(2, method=method))
    assert {score.rank for score in result.rank_search} <= {3, 4}
    alone = replace(QUICK, ranks=(n_rows // 5 + 1,))
    assert select_features(table, "y", quick(2, method=alone)).rank is not None


def test_weights_that_seem_to_be_shares_are_noted() -> None:
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=100), "y": rng.integers(0, 2, 100)}
    for weight, is_noted in ((0.01, True), (0.5, False)):
        config = SelectionConfig(1, method=QUICK, weight_column="w", n_threads=1)
        notes = select_features(columns | {"w": np.full(100, weight)}, "y", config).notes
        assert any("sum to 1:" in note for note in notes) == is_noted
