"""A table that is read, learnt about and encoded elsewhere gives the answer of one at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import budgets
from core.arrays import Bytes, Ints, Values
from core.blocks.engine import MEMORY, Engine
from core.callbacks import ignore
from core.config import (
    Bootstrap,
    Columns,
    Compare,
    Evaluate,
    GlobalFs,
    GsmCpd,
    Iselect,
    Jmim,
    Method,
    Mrmr,
    Rjmi,
    SelectionConfig,
)
from core.cpd import thinning
from core.data.codes import InBlocks
from core.data.deferred import Deferred
from core.data.fine import FineColumn
from core.data.preparation import preparing, unfold
from core.data.recoding import encode_finely
from core.data.texts import Column
from core.data.times import TimePart
from core.errors import InvalidConfig
from core.pipeline import select_features
from tests.core.blocks.owners import Owners
from tests.core.worlds import examples

N_ROWS = 400
QUICK = GsmCpd(ranks=(2, 5), n_models=2, n_init=2, max_iter=6)


def table(seed: int) -> dict[str, Values]:
    """Of every type, with gaps, copies, constants, ids, moments, weights and rows without label."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 3, N_ROWS)
    told = np.where(rng.random(N_ROWS) < 0.7, label, rng.integers(0, 3, N_ROWS))
    hours = rng.integers(0, 5000, N_ROWS) + 400 * label
    return {
        "told": told,
        "copy": told,
        "mirror": 2 - told,
        "number": label + rng.normal(size=N_ROWS),
        "gaps": np.where(rng.random(N_ROWS) < 0.2 + 0.2 * label, np.nan, 1.0),
        "words": np.array(["a", "b", "c", None], dtype=object)[rng.integers(0, 4, N_ROWS)],
        "constant": np.ones(N_ROWS),
        "nothing": np.full(N_ROWS, np.nan),
        "id": np.array([f"id {n}" for n in range(N_ROWS)], dtype=object),
        "when": np.datetime64("2024-01-01T00", "us") + hours.astype("timedelta64[h]"),
        "weight": np.where(rng.random(N_ROWS) < 0.1, 0, rng.random(N_ROWS) + 0.1),
        "label": np.where(rng.random(N_ROWS) < 0.05, np.nan, label),
    }


@dataclass(frozen=True, eq=False)
class Made:
    """Columns that a process elsewhere makes itself, by a number alone."""

    seed: int
    read: list[str] = field(default_factory=list)

    @contextmanager
    def columns(self, names: Sequence[str]) -> Iterator[Mapping[str, Column]]:
        yield {name: column for name, column in table(self.seed).items() if name in names}

    def source(
        self,
        columns: Sequence[FineColumn],
        parts: Mapping[str, TimePart],
        *,
        is_held: bool = False,
    ) -> MadeRows:
        return MadeRows(self.seed, tuple(columns), dict(parts))

    def deferred(self) -> dict[str, Column]:
        """The same columns for whoever may read some of them: which, is noted."""

        def read(name: str, first: int, last: int) -> Values:
            self.read.append(name)
            return table(self.seed)[name][first:last]

        return {
            name: Deferred(N_ROWS, name == "when", partial(read, name)) for name in table(self.seed)
        }


@dataclass(frozen=True, eq=False)
class MadeRows:
    seed: int
    columns: tuple[FineColumn, ...]
    parts: dict[str, TimePart]

    def of(self, features: Ints) -> MadeRows:
        return replace(self, columns=tuple(self.columns[n] for n in features))

    def fine(self, first: int, last: int) -> Bytes:
        codes = [encode_finely(column, self._values(column.name)) for column in self.columns]
        return np.array(codes, dtype=np.uint8)[:, first:last]

    def _values(self, name: str) -> Any:
        part, columns = self.parts.get(name), table(self.seed)
        return columns[name] if part is None else part.of(columns[part.column])


@pytest.fixture(autouse=True)
def _small_tables_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in (
        (budgets, "WHOLE_CELLS", 0),
        (budgets, "SHARD_ROWS", (37, 37)),
        (budgets, "CROSS_ROWS", 90),
        (thinning, "LEAST_OF_CLASS", 5),
    ):
        monkeypatch.setattr(module, name, value)


def answer(made: Made, config: SelectionConfig, engine: Engine, **experiments: Any) -> Any:
    origin = None if engine is MEMORY else made
    columns = made.deferred()
    result = select_features(columns, "label", config, engine=engine, origin=origin, **experiments)
    document = result.to_json()
    for method in (document["comparison"] or {"methods": ()})["methods"]:
        method.pop("seconds", None)
    return document


@examples(12)
@given(
    seed=st.integers(0, 10**6),
    n_owners=st.sampled_from([1, 2, 3, 7]),
    method=st.sampled_from([QUICK, Mrmr(), Jmim(), Iselect(), Rjmi(), GlobalFs(max_subsets=20)]),
    is_weighted=st.booleans(),
    is_partial=st.booleans(),
)
def test_whoever_reads_the_columns_the_answer_is_the_same(
    seed: int, n_owners: int, method: Method, is_weighted: bool, is_partial: bool
) -> None:
    made = Made(seed)
    columns = Columns(exclude=() if is_weighted else ("weight",))
    target = "label" if is_partial else "told"
    config = SelectionConfig(
        4, method=method, columns=columns, n_threads=1,
        weight_column="weight" if is_weighted else None,
    )  # fmt: skip
    at_hand, there = (
        select_features(made.deferred(), target, config, engine=engine, origin=origin).to_json()
        for engine, origin in ((MEMORY, None), (Owners(n_owners), made))
    )
    assert there == at_hand


def test_our_own_process_reads_the_target_and_the_weights_alone() -> None:
    made = Made(3)
    config = SelectionConfig(4, method=QUICK, n_threads=1, weight_column="weight")
    found = answer(made, config, Owners(2))
    assert set(made.read) == {"label", "weight"}
    assert {"constant", "nothing", "id"} <= {column["name"] for column in found["dropped"]}
    assert {column["source_column"] for column in found["derived"]} == {"when"}
    same = [warning["columns"] for warning in found["warnings"] if warning["code"] == "copy"]
    assert same == [["told", "copy"]]


def test_experiments_are_the_same_wherever_the_table_lies() -> None:
    config = SelectionConfig(
        2, method=QUICK, n_threads=1, evaluate=Evaluate(n_splits=2), weight_column="weight"
    )
    compare = Compare(methods=(Mrmr(), QUICK), n_splits=2)
    asked = {"compare": compare, "bootstrap": Bootstrap(n_samples=2)}
    found = [answer(Made(5), config, engine, **asked) for engine in (MEMORY, Owners(3))]
    assert found[0] == found[1]
    assert found[0]["stability"] is not None


@pytest.mark.parametrize("weight_column", [None, "weight"])
def test_codes_that_lie_elsewhere_are_those_at_hand(weight_column: str | None) -> None:
    made = Made(8)
    excluded = () if weight_column else ("weight",)
    asked = SelectionConfig(
        3, weight_column=weight_column, columns=Columns(exclude=excluded), n_threads=1
    )
    tables = []
    for engine, origin in ((MEMORY, None), (Owners(2), made)):
        unfolded = unfold(made.deferred(), "label", asked, (), engine, origin)
        where = (ignore, engine, origin)
        with preparing(unfolded.columns, "label", unfolded.config, *where) as prepared:
            table, here = prepared.table, prepared.at_hand().table
            assert isinstance(table.codes, InBlocks) == (origin is not None or bool(weight_column))
            rows = np.array([300, 2, 2, 77])
            np.testing.assert_array_equal(table.take(rows).at_hand, here.at_hand[:, rows])
            recipes = [one.learn("supervised") for one in (table, here)]
            np.testing.assert_array_equal(recipes[0].counts, recipes[1].counts)
            encoded = [table.encode(r, rows, np.array([2, 0])) for r in recipes]
            np.testing.assert_array_equal(encoded[0], encoded[1])
            problem = table.problem(recipes[0])
            np.testing.assert_array_equal(problem.column(1), here.problem(recipes[1]).column(1))
            held = [np.concatenate(list(one.held())) for one in (table, here)]
            np.testing.assert_array_equal(held[0], held[1])
            tables.append((here.at_hand, prepared.names, prepared.dropped, recipes[0].tables))
    for one, other in zip(*tables, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_is_wrong_with_a_column_is_told_as_it_is_here() -> None:
    config = SelectionConfig(2, n_threads=1, columns=Columns(include=("constant",)))
    told = []
    for engine in (MEMORY, Owners(2)):
        with pytest.raises(InvalidConfig) as error:
            answer(Made(1), config, engine)
        told.append(str(error.value))
    assert told[0] == told[1]
    assert "constant" in told[0]
