"""`pith worker`: programs side by side, so that a long job never holds up an upload."""

from __future__ import annotations

import os
from collections.abc import Sequence

from app.processes.kernels import COMPILE, environment
from app.processes.lifeline import command_of
from app.processes.parts import Part
from app.processes.supervisor import Child, Supervisor
from app.settings import get_settings

JOBS = command_of("worker", "jobs")
READS = command_of("worker", "reads")


def run(only: Part | None = None, jobs: Sequence[str] = JOBS, *, kernels: bool = True) -> None:
    """Run jobs, read uploads and sweep until told to stop; or `only` one of the two programs.

    The program that compiles `kernels` runs once beside them, unless that has been started already.
    """
    settings = get_settings()
    with Supervisor(settings.stop_seconds) as supervisor:
        # Celery greets on stdout, past every logger.
        if only is not Part.READS:
            env = environment(settings)
            supervisor.add(Child("jobs", jobs, env, quiet=True))
            if kernels:
                supervisor.add(Child("kernels", COMPILE, env, once=True))
        if only is not Part.JOBS:
            supervisor.add(Child("reads", READS, os.environ, quiet=True))
        supervisor.run()
