"""What a job will take, told before it runs: memory, seconds, and which engine would run it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.capacity import Capacity
from app.db.base import Reader
from app.jobs import speeds
from app.jobs.memory import engine_for, has_blocks, needed_memory, table_of
from app.jobs.specification import (
    EngineChoice,
    Specification,
    compare_of,
    config_of,
)
from core.config import Bootstrap
from core.cost.engines import EngineName
from core.cost.forecast import phase_seconds
from core.cost.work import Speed
from core.results.selection import Decided, Phase

BY_ROOM: dict[EngineName, str] = {
    "memory": "It needs about {share}, so that one worker holds it in memory.",
    "file": "Memory does not hold its table, which lies in files; beside them it needs {share}.",
    "dask": "Memory does not hold its table, which lies on the cluster; beside it a worker needs "
    "{share}.",
}
BY_WISH: dict[EngineName, str] = {
    "memory": "Memory was asked for, of which it needs about {share}.",
    "file": "Files were asked for, and hold its table; beside them it needs {share}.",
    "dask": "The cluster was asked for, and holds its table; beside it a worker needs {share}.",
}
STAYING: dict[EngineName, str] = {
    "file": "Files were asked for, and hold its codes; with this method what is packed of a table "
    "of this size stays in the worker's memory. It needs about {share}.",
    "dask": "The cluster was asked for, but with this method a table of this size stays in the "
    "worker. It needs about {share}.",
}
"""Where rows are not cut into blocks."""


@dataclass(frozen=True)
class Estimate:
    """What a job takes alone on a machine; `measured` says whether a worker's own speed is known.

    Of a job that all workers share, `seconds` are those of one that does it alone.
    """

    memory_bytes: int
    phase_seconds: dict[Phase, float]
    engine: str
    why: str
    measured: bool

    @property
    def seconds(self) -> float:
        """From the beginning of the first phase to the end of the last."""
        return sum(self.phase_seconds.values())


def estimate(
    session: Reader,
    specification: Specification,
    n_rows: int,
    columns: Sequence[Mapping[str, Any]],
    capacity: Capacity,
) -> Estimate:
    """What a job takes of a dataset with this profile."""
    speed = speeds.newest(session)
    engine = engine_for(specification, n_rows, columns, capacity)
    needed = needed_memory(specification, n_rows, columns, engine)
    share = f"{_gib(needed)} of the {_gib(capacity.memory_bytes)} GiB that a worker has"
    whole = not has_blocks(specification, n_rows, columns)
    reason = _because(specification.engine, engine, whole=whole).format(share=share)
    return Estimate(
        memory_bytes=needed,
        phase_seconds=forecast(specification, n_rows, columns, speed or Speed(), engine=engine),
        engine=engine,
        why=f"{reason} {_whose(speed)}",
        measured=speed is not None,
    )


def _because(asked: EngineChoice, engine: EngineName, *, whole: bool) -> str:
    if asked == "auto":
        return BY_ROOM[engine]
    return STAYING[asked] if whole and asked in STAYING else BY_WISH[asked]


def _whose(speed: Speed | None) -> str:
    if speed is None:
        return "No worker has measured itself yet: the seconds are those of a usual core."
    threads = "1 thread" if speed.n_threads == 1 else f"{speed.n_threads} threads"
    return f"The seconds are those of the worker that measured itself last, with {threads}."


def _gib(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:.1f}"


def forecast(
    specification: Specification,
    n_rows: int,
    columns: Sequence[Mapping[str, Any]],
    speed: Speed,
    decided: Decided | None = None,
    *,
    engine: EngineName,
) -> dict[Phase, float]:
    """Seconds of each phase, with the table where this engine has it."""
    shape, config = table_of(specification, n_rows, columns), config_of(specification)
    compare, bootstrap = compare_of(specification), _bootstrap_of(specification)
    return phase_seconds(shape, config, speed, compare, bootstrap, decided, engine)


def selection_seconds(
    specification: Specification,
    n_rows: int,
    columns: Sequence[Mapping[str, Any]],
    speed: Speed,
    decided: Decided | None = None,
    *,
    engine: EngineName,
) -> dict[Phase, float]:
    """Seconds of each phase of the selection alone, beside which others do the rest."""
    shape, config = table_of(specification, n_rows, columns), config_of(specification)
    return phase_seconds(shape, config, speed, decided=decided, engine=engine)


def _bootstrap_of(specification: Specification) -> Bootstrap | None:
    stability = specification.stability
    return None if stability is None else Bootstrap(n_samples=stability.n_samples)
