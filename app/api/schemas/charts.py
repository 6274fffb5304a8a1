"""Results in pictures, as callers see them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class ChartRead(BaseModel):
    """A picture and the data that it shows."""

    name: str = Field(examples=["information"])
    title: str
    caption: str
    svg: str = Field(description="A picture that stands on its own.")
    narrow_svg: str = Field(description="The same for a narrow screen.")
    columns: list[str]
    rows: list[list[Any]]
    measure: str | None = Field(
        description="Charts of a part that have one are looked at one measure at a time."
    )


class PartRead(BaseModel):
    """One question that people ask of a result, with its answer in words and in pictures."""

    name: str = Field(examples=["rest"])
    title: str = Field(examples=["May I drop the rest?"])
    sentences: list[str]
    charts: list[str] = Field(description="By name.")


class ChartsRead(BaseModel):
    """The result in a sentence, in a few more, and in pictures."""

    dataset: str = Field(description="What the dataset is called.")
    headline: str
    summary: list[str]
    parts: list[PartRead] = Field(description="In the order in which they are read.")
    charts: list[ChartRead]
