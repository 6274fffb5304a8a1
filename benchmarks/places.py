"""Where the table of a made job lies while it runs, and whose processor time it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import process_time

from psutil import Process

from app.cluster.engine import DaskEngine
from benchmarks.cluster import running_cluster
from core.blocks.engine import MEMORY, Engine
from core.blocks.scratch import Scratch
from core.cost.engines import EngineName


@dataclass(frozen=True)
class Place:
    """An engine, and the processes of its cluster, if it has one."""

    engine: Engine
    programs: Sequence[int] = ()

    def clock(self) -> float:
        """Processor time of this process and of the cluster."""
        times = (Process(program).cpu_times() for program in self.programs)
        return process_time() + sum(time.user + time.system for time in times)


@contextmanager
def placed(name: EngineName, directory: Path, n_processes: int = 1) -> Iterator[Place]:
    """An engine by its name, whose files lie in a directory."""
    scratch = Scratch(directory)
    if name == "dask":
        with running_cluster(directory, n_processes) as cluster:
            programs = [program.pid for program in cluster.programs]
            yield Place(DaskEngine(cluster.address, scratch), programs)
    else:
        yield Place(MEMORY if name == "memory" else scratch)
