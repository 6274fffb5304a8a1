"""The same job with its table in memory and in scratch files: time and memory for each cell.

Columns are made when they are looked at, so that nobody holds the table but the engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, process_time

import numpy as np

from benchmarks.figures import Figure
from benchmarks.plan import Size
from benchmarks.synthetic import N_CLASSES, N_STATES
from benchmarks.whole import LABEL, phases
from core.arrays import Bytes
from core.blocks.engine import MEMORY, Engine
from core.blocks.scratch import Scratch
from core.config import SelectionConfig
from core.data.deferred import Deferred
from core.data.texts import Column
from core.memory import EngineKind, TableShape, estimate_memory

N_LEVELS = 5
LOOK_SECONDS = 0.05


def streamed_table(n_rows: int, n_features: int) -> dict[str, Column]:
    """Columns that each tell a little about a state, as the label does; made anew at every look."""
    states = np.random.default_rng(0).integers(0, N_STATES, n_rows, dtype=np.uint8)

    def column(n: int) -> Bytes:
        rng = np.random.default_rng([1, n])
        shares, strength = rng.dirichlet(np.full(N_LEVELS, 0.7), N_STATES), rng.beta(2, 6)
        cuts = (strength * shares + (1 - strength) * shares.mean(axis=0)).cumsum(axis=1)
        codes, drawn = np.zeros(n_rows, dtype=np.uint8), rng.random(n_rows, dtype=np.float32)
        for level in range(N_LEVELS - 1):
            codes += drawn > cuts[:, level].astype(np.float32)[states]
        return codes

    columns: dict[str, Column] = {
        f"x{n}": Deferred(n_rows, False, partial(column, n)) for n in range(n_features)
    }
    return {**columns, LABEL: states % N_CLASSES}


class Peak:
    """The most that this process held while somebody looked: in all, and of its own."""

    def __init__(self) -> None:
        self.resident, self.anonymous = 0, 0

    def look(self) -> None:
        """Take note of what there is now."""
        status = Path("/proc/self/status").read_text()
        resident, anonymous = (
            int(re.search(rf"{kind}:\s+(\d+)", status)[1]) * 1024  # type: ignore[index]
            for kind in ("VmRSS", "RssAnon")
        )
        self.resident = max(self.resident, resident)
        self.anonymous = max(self.anonymous, anonymous)


@contextmanager
def watched() -> Iterator[Peak]:
    """Look at memory several times a second, in a thread; the figures are what was added."""
    before, peak, ended = Peak(), Peak(), Event()
    before.look()

    def watch() -> None:
        while not ended.wait(LOOK_SECONDS):
            peak.look()

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()
        peak.resident -= before.resident
        peak.anonymous -= before.anonymous


def measure_engine(size: Size, kind: EngineKind, n_threads: int, n_select: int) -> Figure:
    """The default job at one size; processor time for each cell, of each phase."""
    config = SelectionConfig(n_select, n_threads=n_threads)
    phases(streamed_table(2000, size.n_features), config, process_time)  # compiles
    columns = streamed_table(size.n_rows, size.n_features)
    with TemporaryDirectory() as directory, watched() as peak:
        engine: Engine = MEMORY if kind == "memory" else Scratch(Path(directory))
        start = perf_counter()
        seconds, _ = phases(columns, config, process_time, engine)
        elapsed = perf_counter() - start
    n_cells, total = size.n_rows * size.n_features, sum(seconds.values())
    shape = TableShape(size.n_rows, [N_LEVELS] * size.n_features, N_CLASSES)
    return Figure(
        part="engine",
        what=f"default job, {kind}",
        size=str(size),
        value=1e9 * total / n_cells,
        unit="ns a cell",
        details={
            "elapsed_s": elapsed,
            **{f"{phase}_cpu_s": s for phase, s in seconds.items()},
            "anonymous_bytes_a_cell": peak.anonymous / n_cells,
            "resident_bytes_a_cell": peak.resident / n_cells,
            "estimated_bytes_a_cell": estimate_memory(shape, config, kind) / n_cells,
        },
    )
