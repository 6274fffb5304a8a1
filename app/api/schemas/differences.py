"""Two results side by side, as callers see them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from app.api.schemas.charts import ChartRead


class Difference(BaseModel):
    """Something that is not the same in both; null where one has none."""

    name: str = Field(examples=["/method/n_models"])
    a: Any
    b: Any


class FeatureRanks(BaseModel):
    """A feature that one of the two chose, with its rank in each."""

    name: str
    a: int | None
    b: int | None


class DifferenceRead(BaseModel):
    """What changed between two jobs, and what came of it."""

    sentences: list[str]
    data: list[Difference] = Field(description="Facts about the data that differ.")
    options: list[Difference] = Field(description="Options that differ, by their path.")
    features: list[FeatureRanks]
    charts: list[ChartRead] = Field(description="Both curves in one picture.")
