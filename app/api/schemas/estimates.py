"""What a job will take, as callers see it before they submit it."""

from __future__ import annotations

from pydantic import Field

from app.api.schemas.base import FromRow
from core.results.selection import Phase


class JobEstimate(FromRow):
    """What a job takes on a worker that does nothing else; within a factor of two, mostly."""

    memory_bytes: int = Field(description="At its peak, with the worker's process.")
    seconds: float = Field(description="Of all phases, by one worker alone.")
    phase_seconds: dict[Phase, float] = Field(description="By phase, in order.")
    engine: str = Field(
        examples=["memory"],
        description="Which would run it: `memory` is one worker that holds the table, `file` one "
        "that keeps it in scratch files, `dask` a cluster. A table that would not lie on the "
        "cluster stays in the worker, whichever was asked for.",
    )
    why: str = Field(description="In words: what decided the engine, and whose seconds these are.")
    measured: bool = Field(
        description="Whether a worker has measured its own speed; if not, it is that of a usual "
        "core."
    )
