"""A pass of EM over blocks that lie on a Dask cluster, against memory: time and network."""

from __future__ import annotations

import pickle
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from unittest.mock import patch

import numpy as np

from app.cluster.engine import DaskEngine
from benchmarks.figures import Figure
from benchmarks.growth import JUDGED_CELLS, MOST_OVERHEAD
from benchmarks.plan import Size
from benchmarks.synthetic import latent_class_problem
from core import budgets
from core.arrays import Bytes, Ints
from core.cpd.bank import Bank, uniform_scale
from core.cpd.em import states_per_class
from core.cpd.seeding import seed_parameters
from core.cpd.spread import SpreadRows, bank_of, gather
from core.data.problem import CodedProblem
from core.workers import Workers
from tests.cluster.clusters import Cluster

RANK, N_MODELS, N_PASSES = 20, 3, 5
TCP_INFO_BYTES, ACKED = 256, slice(120, 128)
"""Where the kernel says how many bytes of a connection the other side has got."""


@dataclass(frozen=True)
class SavedCodes:
    """Fine codes in a file that everybody reads, of some features or all."""

    place: Path
    features: Ints | None = None

    def fine(self, first: int, last: int) -> Bytes:
        """(n_features, last - first) of them."""
        codes = np.load(self.place, mmap_mode="r")[:, first:last]
        return np.ascontiguousarray(codes if self.features is None else codes[self.features])

    def of(self, features: Ints) -> SavedCodes:
        """Some of all."""
        return SavedCodes(self.place, features)


def measure_cluster(size: Size, n_processes: int) -> Figure:
    """One pass by so many workers of one thread each, against as many threads in memory."""
    problem = latent_class_problem(size.n_rows, size.n_features, size.n_levels, weak=True)
    with patch.object(budgets, "WHOLE_CELLS", 0), TemporaryDirectory() as name:
        directory, saved = Path(name), SavedCodes(Path(name) / "codes.npy")
        np.save(saved.place, problem.at_hand)
        in_memory, n_parameters, _ = _pass(problem, n_processes, lambda: 0)
        with running_cluster(directory, n_processes) as cluster:
            there = replace(problem, engine=DaskEngine(cluster.address), source=saved)
            seconds, _, n_bytes = _pass(there, n_processes, partial(_sent_by_all, cluster))
    n_cells = size.n_rows * size.n_features
    return Figure(
        part="pass",
        what=f"a pass, {n_processes} processes of Dask against as many threads",
        size=str(size),
        value=seconds / in_memory,
        unit="times",
        target=MOST_OVERHEAD if (n_cells, n_processes) == (JUDGED_CELLS, 2) else None,
        sense="at most",
        details={
            "memory_s": in_memory,
            "dask_s": seconds,
            "parameters_MB": n_parameters / 1e6,
            "network_MB": n_bytes / 1e6,
            "network_over_parameters": n_bytes / n_parameters,
        },
    )


@contextmanager
def running_cluster(directory: Path, n_workers: int) -> Iterator[Cluster]:
    cluster = Cluster(directory)
    try:
        for _ in range(n_workers):
            cluster.start_worker()
        yield cluster
    finally:
        cluster.close()


def _pass(
    problem: CodedProblem, n_threads: int, sent: Callable[[], int]
) -> tuple[float, int, float]:
    """Seconds, the best of some; bytes of the parameters; bytes that everybody sent."""
    with gather(problem, "per_class") as rows, Workers(n_threads) as workers:
        assert isinstance(rows, SpreadRows)
        n_states = states_per_class(rows.few, RANK)
        few = Bank(rows.few, n_states, uniform_scale(rows.few.weights, N_MODELS), 1.0, workers)
        parameters = seed_parameters(few, 0)
        bank, seconds = bank_of(rows, n_states, N_MODELS, 1.0, workers), []
        bank.expect(parameters)  # makes the blocks, and compiles
        before = sent()
        for _ in range(N_PASSES):
            start = perf_counter()
            bank.expect(parameters)
            seconds.append(perf_counter() - start)
        n_bytes = (sent() - before) / N_PASSES
    return min(seconds), len(pickle.dumps(parameters)), n_bytes


def _sent_by_all(cluster: Cluster) -> int:
    workers = sum(cluster.client.run(sent_bytes).values())
    return sent_bytes() + int(cluster.client.run_on_scheduler(sent_bytes)) + int(workers)


def sent_bytes() -> int:
    """What this process sent over the connections that it has, as far as it has arrived."""
    return sum(_acked(int(entry.name)) for entry in Path("/proc/self/fd").iterdir())


def _acked(number: int) -> int:
    with suppress(OSError), socket.socket(fileno=number) as found:
        try:
            info = found.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
        finally:
            found.detach()
        return int.from_bytes(info[ACKED], "little")
    return 0
