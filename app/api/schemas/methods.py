"""Methods as callers see them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class MethodRead(BaseModel):
    """One method."""

    name: str
    summary: str
    fits_model: bool = Field(description="Whether there are factors to download.")
    parameters: dict[str, Any] = Field(description="JSON schema, with defaults and limits.")


class MethodList(BaseModel):
    """Every method."""

    methods: list[MethodRead]
