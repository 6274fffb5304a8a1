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


class ChartsRead(BaseModel):
    """The result in a sentence, in a few more, and in pictures."""

    headline: str
    summary: list[str]
    charts: list[ChartRead]
