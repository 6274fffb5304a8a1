"""Results and factors as callers see them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from core.cost.engines import EngineName
from core.results.explanations import Alike, LevelCounts
from core.results.measures import Comparison, Evaluation, Missing, Stability
from core.results.selection import (
    Certificate,
    Derived,
    Dropped,
    EncodedColumn,
    HeldOut,
    LeftOut,
    RankScore,
    Selected,
    TableWarning,
)


class ModelSummary(BaseModel):
    """How one model was fitted; its arrays are the factors."""

    variables: list[str]
    loglik: list[float] = Field(description="Mean per row, one for each iteration.")
    n_iter: int
    converged: bool
    rank: int
    family: str


class DatasetReference(BaseModel):
    """Which bytes went in."""

    id: str
    sha256: str


class Provenance(BaseModel):
    """All that is needed to get the same result again."""

    dataset: DatasetReference
    specification: dict[str, Any]
    seed: int
    versions: dict[str, str]
    engine: EngineName | None = Field(
        None,
        description="Where the table lay, whichever engine was asked for; results of older "
        "versions do not say it.",
    )


class ResultRead(BaseModel):
    """The chosen features and all that explains them."""

    target: str
    selected: list[Selected]
    left_out: list[LeftOut]
    dropped: list[Dropped]
    suggested_k: int
    n_rows: int
    n_distinct_rows: int | None
    encoding: list[EncodedColumn]
    config: dict[str, Any]
    certificate: Certificate | None
    rank_search: list[RankScore]
    rank: int | None
    models: list[ModelSummary]
    evaluation: Evaluation | None
    comparison: Comparison | None
    stability: Stability | None
    n_evaluations: int | None
    held_out: HeldOut | None
    equal_width_heard: bool = Field(
        False,
        description="Whether columns cut at equal width had a say in what was chosen, beside the "
        "cuts of `encoding`.",
    )
    counts_heard: bool = Field(
        False,
        description="Whether no column was taken to add more than rows show beside each column "
        "chosen before it: so it is where held-out rows lose nothing by that.",
    )
    level_counts: list[LevelCounts] = []
    alike: Alike | None = None
    warnings: list[TableWarning]
    notes: list[str]
    derived: list[Derived] = Field([], description="Features that are parts of a time.")
    missing: list[Missing] = Field([], description="Of a partial result: what is not all done.")
    provenance: Provenance


class VariableFactor(BaseModel):
    """P(level | state) of one variable: a row for each level, a column for each state."""

    name: str
    levels: list[str]
    factor: list[list[float]]


class ModelFactors(BaseModel):
    """One fitted model; the last variable is the label."""

    rank: int
    family: str
    weights: list[float] = Field(description="P(state), lambda.")
    variables: list[VariableFactor]


class FactorsRead(BaseModel):
    """Every fitted model."""

    models: list[ModelFactors]
