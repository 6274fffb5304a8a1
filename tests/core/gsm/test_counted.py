"""What a column tells beside each of the chosen, against counting; and what rests on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arrays import Bytes, Floats, Ints
from core.callbacks import ignore
from core.config import GsmCpd, SelectionConfig
from core.cpd.ladder import count_classes
from core.crossfit.choice import Configuration
from core.crossfit.folds import Fold
from core.data.preparation import prepare
from core.data.problem import CodedProblem
from core.gsm import counted as module
from core.gsm import pairs
from core.gsm.counted import Counted, CutRows, has_one_state_each
from core.gsm.outcome import GsmOutcome
from core.gsm.proposal import Proposer
from core.methods import choose
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


def counted_in(codes: Bytes, labels: Bytes, weights: Floats | None = None) -> Counted:
    return Counted([CutRows(problem_of(codes, labels, weights))])


@examples(20)
@given(st.integers(0, 10**6))
def test_the_least_is_counted_over_all_that_was_chosen(seed: int) -> None:
    codes, labels = drawn(seed)
    weights = np.random.default_rng(seed).integers(1, 4, len(codes))
    rows, classes = np.repeat(codes, weights, axis=0), np.repeat(labels, weights)
    told = {c: reference.told_beside(rows[:, 0], rows[:, c], classes) for c in (3, 1, 2)}
    counted = counted_in(codes, labels, weights.astype(np.float64))
    feature, chosen = np.array([0]), list(told)
    assert counted.least(feature, [])[0] == np.inf
    for n_chosen in (1, 2, 3):  # what was chosen before is not counted again
        found = counted.least(feature, chosen[:n_chosen])[0]
        assert found == pytest.approx(min(told[c] for c in chosen[:n_chosen]), abs=1e-9)


@examples(20)
@given(st.integers(0, 10**6))
def test_the_best_two_are_those_of_counting_everything(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (80, 40), dtype=np.uint8)
    labels = (rng.random(80) < 0.2 + 0.3 * codes[:, 0]).astype(np.uint8)
    charge, counted = rng.random(40) * 0.02, counted_in(codes, labels)
    chosen: list[int] = []
    for _ in range(4):
        chosen.append(int(rng.choice(np.setdiff1d(np.arange(40), chosen))))
        rest = np.setdiff1d(np.arange(40), chosen)
        everything = counted_in(codes, labels).least(rest, chosen) - charge[rest]
        best, told = counted.best_two(rest, chosen, charge)
        assert best.tolist() == rest[np.argsort(-everything, kind="stable")[:2]].tolist()
        assert told.tolist() == np.sort(everything)[::-1][:2].tolist()


@examples(10)
@given(st.integers(0, 10**6), st.sampled_from([0, 4, 2**19]))
def test_another_search_over_the_same_rows_is_told_the_same(seed: int, n_pairs: int) -> None:
    """With room for what was counted of nobody, of one column and of all."""
    codes, labels = drawn(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "MOST_PAIRS", n_pairs)
        rows = CutRows(problem_of(codes, labels))
    Counted([rows]).least(np.array([0, 3]), [1, 2])
    asked, chosen = np.array([0, 1, 3]), [2, 1]
    alone = counted_in(codes, labels).least(asked, chosen)
    assert Counted([rows]).least(asked, chosen).tolist() == alone.tolist()


def test_two_ways_to_cut_the_same_rows_count_as_their_mean() -> None:
    codes, labels = drawn(3)
    coarse = np.where(codes == 2, 1, codes).astype(np.uint8)
    one, other = counted_in(codes, labels), counted_in(coarse, labels)
    both = Counted([CutRows(problem_of(c, labels)) for c in (codes, coarse)])
    rest, chosen = np.array([1, 2, 3]), [0]
    mean = (one.least(rest, chosen) + other.least(rest, chosen)) / 2
    assert both.least(rest, chosen) == pytest.approx(mean)


def test_a_column_that_adds_something_of_its_own_is_not_held_back() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (4000, 3), dtype=np.uint8)
    codes[:, 2] = np.where(rng.random(4000) < 0.05, 1 - codes[:, 0], codes[:, 0])
    labels = (rng.random(4000) < 0.1 + 0.4 * codes[:, 0] + 0.4 * codes[:, 1]).astype(np.uint8)
    own, repeated = counted_in(codes, labels).least(np.array([1, 2]), [0])
    assert own > 0.09
    assert repeated < 0.005


def test_of_many_rows_a_sample_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, labels = drawn(1, n_rows=6000)
    every = counted_in(codes, labels).least(np.array([0, 2]), [1])
    monkeypatch.setattr(module, "CROSS_ROWS", 3000)
    few = counted_in(codes, labels).least(np.array([0, 2]), [1])
    assert few.tolist() != every.tolist()
    assert few == pytest.approx(every, abs=0.03)


def test_a_class_with_two_states_does_not_take_columns_for_independent() -> None:
    codes, labels = drawn(0)
    problem = problem_of(codes, labels)
    sizes = np.bincount(labels).astype(float)
    one_each = count_classes(np.ones((12, 2)), np.arange(0, 13, 3), sizes, 1.0)
    two_each = replace(
        one_each,
        weights=np.repeat(one_each.weights / 2, 2),
        factors=[np.repeat(factor, 2, axis=1) for factor in one_each.factors],
    )
    assert has_one_state_each(problem, GsmCpd(), one_each)
    assert not has_one_state_each(problem, GsmCpd(), two_each)
    assert not has_one_state_each(problem, GsmCpd(family="joint"), one_each)


def test_counts_decide_once_the_model_is_sure_of_the_label() -> None:
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 300)
    columns = {f"tells{i}": np.where(rng.random(300) < 0.03, 1 - label, label) for i in range(4)}
    columns |= {f"weak{i}": np.where(rng.random(300) < 0.3, 1 - label, label) for i in range(2)}
    shared = rng.integers(0, 2, 300)
    columns |= {f"noise{i}": np.where(rng.random(300) < 0.1, 1 - shared, shared) for i in range(4)}
    result = select_features(columns | {"y": label}, "y", SelectionConfig(10, n_threads=1))
    by = [feature.decided_by for feature in result.selected]
    assert by[0] == "label" and "counted" in by and "latent" not in by
    assert by == sorted(by, key=["label", "counted"].index)
    margins = [f.margin for f in result.selected if f.decided_by == "counted"]
    assert all(margin is not None and margin >= 0 for margin in margins[:-1])
    assert margins[-1] is None  # nobody was left to beat
    # The noise explains itself best, which is what decided before.
    assert result.names.index("weak0") < min(result.names.index(f"noise{i}") for i in range(4))


def test_what_says_the_same_with_an_error_each_comes_after_what_says_another_thing() -> None:
    enough = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        told = rng.normal(size=(3, 600))
        noisy = told[:, None] + 0.1 * rng.normal(size=(3, 3, 600))
        columns = {f"{t}{i}": noisy[t, i] for t in range(3) for i in range(3)}
        columns["y"] = (rng.random(600) < 1 / (1 + np.exp(-2 * told.sum(axis=0)))).astype(np.int64)
        result = select_features(columns, "y", SelectionConfig(9, n_threads=1))
        assert result.rank == 2
        assert {name[0] for name in result.names[:3]} == {"0", "1", "2"}
        enough.append(result.suggested_k)
    assert sorted(enough)[1] == 3  # a second reading of a noisy column tells a little as well


def test_counts_cap_no_states_that_held_out_rows_need() -> None:
    """Three bits tell only together, of which counts beside one of them know nothing."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (3, 500))
    label = bits.sum(axis=0) % 2 ^ (rng.random(500) < 0.05)
    noise = {f"noise{i}": rng.integers(0, 2, 500) for i in range(12)}
    columns = noise | {f"bit{i}": bit for i, bit in enumerate(bits)}
    result = select_features(columns | {"y": label}, "y", SelectionConfig(n_threads=1))
    assert sorted(result.names) == ["bit0", "bit1", "bit2"]
    assert result.rank is not None and result.rank > 2 and not result.counts_heard


def said_often(seed: int) -> dict[str, Ints]:
    """One thing that is told by several columns, with an error each, and three other things."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, 300)

    def with_error(values: Ints, share: float) -> Ints:
        return np.where(rng.random(300) < share, 1 - values, values)

    said = with_error(label, 0.2)
    often = {f"said{i}": with_error(said, 0.1) for i in range(6)}
    return often | {f"other{i}": with_error(label, 0.4) for i in range(3)} | {"y": label}


def test_states_that_hear_counts_credit_no_column_with_more_than_they_say() -> None:
    columns, config = said_often(0), SelectionConfig(n_threads=1)
    table = prepare(columns, "y", config, lambda _: None).table
    exceeded = []
    for hears in (False, True):
        how = Configuration("uniform", 12, hears_counts=hears)
        outcome = choose(table, 6, config.method, configuration=how).outcome
        assert isinstance(outcome, GsmOutcome)
        features, told = (
            list(outcome.features),
            Counted([CutRows(table.problem(table.learn("uniform")))]),
        )
        most = [told.least(np.array([f]), features[:k])[0] for k, f in enumerate(features)]
        exceeded.append(sum(step.label > m for step, m in zip(outcome.steps, most, strict=True)))
    assert exceeded[0] > 0 == exceeded[1]


def test_counts_are_heard_where_held_out_rows_lose_nothing_by_them() -> None:
    config = SelectionConfig(4, method=GsmCpd(ranks=(12,)), n_threads=1)
    result = select_features(said_often(0), "y", config)
    assert result.counts_heard and any("beside each column" in note for note in result.notes)


@pytest.mark.parametrize("seed", range(3))
def test_counts_are_not_heard_where_bits_tell_only_together(seed: int) -> None:
    config = SelectionConfig(3, method=GsmCpd(ranks=(20,)), n_threads=1)
    assert not select_features(parity(seed, n_noise=4), "y", config).counts_heard


def parity(seed: int, n_noise: int) -> dict[str, Ints]:
    """Three bits that tell only together, after noise."""
    rng = np.random.default_rng(14 + seed)
    bits = {f"bit{i}": rng.integers(0, 2, 500) for i in range(3)}
    label = (sum(bits.values()) % 2) ^ (rng.random(500) < 0.05)
    return {f"noise{i}": rng.integers(0, 2, 500) for i in range(n_noise)} | bits | {"y": label}


@pytest.mark.parametrize("seed", range(6))
def test_paths_with_counts_are_the_same_whoever_went_before(seed: int) -> None:
    """Those that begin with the steps of a path without counts, and those that begin by themselves.

    Of bits that tell only together, where the latent gain decides, and of a thing said often.
    """
    config = SelectionConfig(n_threads=1)
    for columns in (parity(seed, n_noise=12), said_often(seed)):
        table = prepare(columns, "y", config, lambda _: None).table
        recipe, rows = table.learn("uniform"), np.arange(table.n_rows)
        fold = Fold(0, "uniform", recipe, rows, rows[:0])
        states = Configuration("uniform", 10)
        counting = replace(states, hears_counts=True)
        both, alone = Proposer(GsmCpd()), Proposer(GsmCpd())
        both(table, fold, states, 8, ignore)
        paths = [propose(table, fold, counting, 8, ignore).order for propose in (both, alone)]
        assert paths[0] == paths[1]
