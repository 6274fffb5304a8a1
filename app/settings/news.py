"""What is told of the work to those who watch: lineage, traces, logs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings

from app.settings.fields import address


class News(BaseSettings):
    """Where it goes, and in which form."""

    lineage_url: str = address(
        "Where OpenLineage events of all jobs go: `http://marquez:5000/api/v1/lineage`."
    )
    lineage_key: str = Field(
        default="", repr=False, description="Bearer token for that address, if it wants one."
    )
    lineage_namespace: str = Field(
        default="pith", min_length=1, description="What this service is called there."
    )
    traces_url: str = address(
        "Where traces go, as OTLP over HTTP: `http://collector:4318/v1/traces`."
    )

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least severe line that is written."
    )
    log_format: Literal["auto", "json", "console"] = Field(
        default="auto", description="`auto` is `console` on a terminal and `json` elsewhere."
    )

    @property
    def lineage(self) -> str | None:
        """The namespace of lineage; None where none is told."""
        return self.lineage_namespace if self.lineage_url else None
