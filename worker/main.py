"""`pith worker`: two programs side by side, so that a long job never holds up an upload."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from app.processes import cpus, kernels
from app.processes.lifeline import command_of
from app.processes.parts import Part
from app.processes.supervisor import Child, Supervisor
from app.settings import Settings, get_settings

JOBS = command_of("worker.jobs")
READS = command_of("worker.reads")


def run(only: Part | None = None, jobs: Sequence[str] = JOBS) -> None:
    """Run jobs, read uploads and sweep until told to stop; or `only` one of the two programs."""
    settings = get_settings()
    with Supervisor(settings.stop_seconds) as supervisor:
        # Celery greets on stdout, past every logger.
        if only is not Part.READS:
            supervisor.add(Child("jobs", jobs, _environment(settings), quiet=True))
        if only is not Part.JOBS:
            supervisor.add(Child("reads", READS, os.environ, quiet=True))
        supervisor.run()


def _environment(settings: Settings) -> Mapping[str, str]:
    """What the libraries of the engine have to know before they are loaded."""
    # A library that counts the machine's cores would start a thread on each.
    env = {"OPENBLAS_NUM_THREADS": str(settings.worker_threads or cpus.available()), **os.environ}
    if settings.kernel_dir is not None:
        env["NUMBA_CACHE_DIR"] = str(kernels.prepare(settings.kernel_dir))
    return env
