"""A real cluster on loopback: the scheduler and the workers that Dask's own commands start."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from distributed import Client

from app.processes.lifeline import command_of, spawn
from tests.servers import free_port, until

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "warning",
    # What a worker is to run is imported there, and some of it is of the tests.
    "PYTHONPATH": str(ROOT),
}
ALONE = ("--no-nanny", "--no-dashboard", "--memory-limit", "0")

Program = subprocess.Popen[bytes]


class Cluster:
    """One scheduler, and workers, mostly of one thread each, that come and go."""

    def __init__(self, directory: Path, **env: str) -> None:
        self.directory = directory
        self.address = f"tcp://127.0.0.1:{free_port()}"
        self.programs: list[Program] = []
        self._env = env
        self.start_scheduler()

    def start_scheduler(self) -> None:
        """The one there is, or another in the place of one that was killed."""
        port = self.address.rpartition(":")[2]
        where = ("--host", "127.0.0.1", "--port", port, "--no-dashboard")
        self.scheduler = self._start("dask_scheduler", *where)
        self.client = Client(self.address, set_as_default=False, timeout=60)

    def kill_scheduler(self) -> None:
        """Workers end when they notice; what they held is lost."""
        self.client.close()
        kill(self.scheduler)

    def start_worker(self, n_threads: int = 1) -> Program:
        """One more, which is there when this returns, however long a busy machine takes for it."""
        name = f"worker-{len(self.programs)}"
        options = (*ALONE, "--nthreads", str(n_threads), "--name", name)
        program = self._start("dask_worker", self.address, *options)
        while name not in self.workers:
            assert program.poll() is None
            time.sleep(0.05)
        return program

    @contextmanager
    def worker(self, n_threads: int = 1) -> Iterator[Program]:
        """One more, for as long as the block lasts, unless the test ends it before."""
        name = f"worker-{len(self.programs)}"
        program = self.start_worker(n_threads)
        try:
            yield program
        finally:
            kill(program)
            until(lambda: self.scheduler.poll() is not None or name not in self.workers)

    @property
    def workers(self) -> dict[str, str]:
        """The addresses of those that the scheduler knows, by name."""
        known = self.client.scheduler_info()["workers"]
        return {worker["name"]: address for address, worker in known.items()}

    def give_up(self, program: Program) -> None:
        """What the scheduler does with a worker that is silent for too long, now."""
        name = self.name_of(program)
        if name in self.workers:
            self.client.run_on_scheduler(_give_up, address=self.workers[name])

    def n_held(self, program: Program) -> int:
        """How many things lie on a worker."""
        address = self.workers[self.name_of(program)]
        return int(self.client.run_on_scheduler(_n_held, address=address))

    def name_of(self, program: Program) -> str:
        """By which the scheduler knows it."""
        return f"worker-{self.programs.index(program)}"

    @property
    def keys(self) -> set[str]:
        """All that the cluster keeps."""
        return set(self.client.run_on_scheduler(_keys))

    @property
    def n_transitions(self) -> int:
        """How often a task has changed its state since the cluster began."""
        return int(self.client.run_on_scheduler(_n_transitions))

    def close(self) -> None:
        self.client.close()
        for program in reversed(self.programs):
            kill(program)

    def _start(self, command: str, *options: str) -> Program:
        with (self.directory / "log").open("ab") as log:
            program = spawn(
                command_of(f"distributed.cli.{command}", *options),
                env={**os.environ, **ENVIRONMENT, **self._env},
                cwd=self.directory,
                stdout=log,
                stderr=log,
            )
        self.programs.append(program)
        return program


def _keys(dask_scheduler: Any) -> list[str]:
    return list(dask_scheduler.tasks)


def _n_transitions(dask_scheduler: Any) -> int:
    return int(dask_scheduler.transition_counter)


def _n_held(dask_scheduler: Any, address: str) -> int:
    return len(dask_scheduler.workers[address].has_what)


async def _give_up(dask_scheduler: Any, address: str) -> None:
    await dask_scheduler.restart_workers([address], wait_for_workers=False, stimulus_id="silence")


def kill(program: Program) -> None:
    """At once, whatever it does."""
    program.send_signal(signal.SIGKILL)
    program.wait()
