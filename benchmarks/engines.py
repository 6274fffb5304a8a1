"""The same job with its table in memory, in scratch files and on Dask: time and memory by cell.

Columns are read from one Parquet file when they are looked at, as the service does it, so that
nobody holds the table but the engine.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from unittest.mock import patch

from app.datasets.columns import defer_columns
from benchmarks.figures import Figure
from benchmarks.peaks import watched
from benchmarks.places import Place, placed
from benchmarks.plan import Size
from benchmarks.synthetic import N_CLASSES
from benchmarks.typed import stored, write_table
from benchmarks.uncached import read_from_disk, uncached
from benchmarks.whole import phases_by
from benchmarks.within import ControlGroup, forget
from core import budgets
from core.config import SelectionConfig
from core.cost.engines import EngineName
from core.memory import TableShape, estimate_memory

FEW = Size(45_000, 20)
"""So many rows are cut, if the number of cells is no reason against it."""


@dataclass(frozen=True)
class Where:
    """An engine, the processes of its cluster, whether files are cached, and in which group."""

    engine: EngineName
    n_processes: int = 0
    cached: bool = True
    group: ControlGroup | None = None

    def __str__(self) -> str:
        told = self.engine if self.cached else f"{self.engine}, not cached"
        told = f"{told}, {self.group}" if self.group else told
        return f"{told} {self.n_processes}" if self.n_processes else told


@dataclass(frozen=True)
class Run:
    """Seconds of the phases of one run: processor time of all processes, and by the clock."""

    phases: dict[str, float]
    elapsed: dict[str, float]


def measure_engine(
    table: Path, size: Size, where: Where, config: SelectionConfig, n_runs: int
) -> Figure:
    """A job on a written table: of some runs the least time of either kind, and the most memory."""
    if where.group:
        where.group.enter()
        forget(table)
    with TemporaryDirectory() as name, placed(where.engine, Path(name), where.n_processes) as place:
        compile_there(Path(name), config, place)
        forgetting = nullcontext() if where.cached else uncached(Path(name))
        already_read = read_from_disk()
        with forgetting, watched(["self"], place.programs) as (own, cluster):
            runs = [_run(table, config, place) for _ in range(n_runs)]
    least, quickest = _least(run.phases for run in runs), _least(run.elapsed for run in runs)
    n_cells = size.n_rows * size.n_features
    shape = TableShape(size.n_rows, [size.n_levels] * size.n_features, N_CLASSES)
    estimated = estimate_memory(shape, config, "memory" if where.engine == "memory" else "file")
    return Figure(
        part="engine",
        what=f"job, {where}",
        size=str(size),
        value=1e9 * sum(least.values()) / n_cells,
        unit="ns a cell",
        details={
            "cells": n_cells,
            "elapsed_s": sum(quickest.values()),
            **{f"{phase}_cpu_s": seconds for phase, seconds in least.items()},
            **{f"{phase}_elapsed_s": seconds for phase, seconds in quickest.items()},
            "own_MB": own.anonymous / 1e6,
            "mapped_MB": (own.resident - own.anonymous) / 1e6,
            "estimated_MB": estimated / 1e6,
            "read_from_disk_MB": (read_from_disk() - already_read) / n_runs / 1e6,
            **({"cluster_MB": cluster.anonymous / 1e6} if place.programs else {}),
            **(_told_by(where.group) if where.group else {}),
        },
    )


def _least(runs: Iterable[dict[str, float]]) -> dict[str, float]:
    return min(runs, key=lambda seconds: sum(seconds.values()))


def _told_by(group: ControlGroup) -> dict[str, float]:
    return {"group_MB": group.most_held / 1e6, "times_full": group.n_refused}


def compile_there(directory: Path, config: SelectionConfig, place: Place) -> None:
    """Whatever a job needs, here and on the cluster, if there is one."""
    few = directory / "few.parquet"
    write_table(few, FEW)
    with patch.object(budgets, "WHOLE_CELLS", 0):
        _run(few, config, place)


def _run(table: Path, config: SelectionConfig, place: Place) -> Run:
    with table.open("rb") as file:
        origin = stored(table) if place.programs else None
        clocks = place.clock, perf_counter
        (processor, elapsed), _ = phases_by(
            clocks, defer_columns(file), config, place.engine, origin
        )
        return Run(processor, elapsed)
