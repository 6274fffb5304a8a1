"""How the service is, as callers see it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class Live(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Ready(BaseModel):
    """What the service stands on."""

    status: Literal["ok", "degraded"] = Field(description="Degraded without broker or room.")
    database: Literal["ok"] = "ok"
    broker: Literal["ok", "unreachable"]
    storage: Literal["ok", "full"] = Field(description="Whether there is room for uploads.")


class Version(BaseModel):
    """Which version answers."""

    name: Literal["pith"] = "pith"
    version: str
    versions: dict[str, str] = Field(
        description="Of all that computes, as the provenance of a result has them."
    )
