"""`pith worker`: two programs side by side, so that a long job never holds up an upload."""

from __future__ import annotations

import os
from collections.abc import Sequence

from app.processes.lifeline import command_of
from app.processes.supervisor import Child, Supervisor
from app.settings import get_settings

JOBS = command_of("worker.jobs")
READS = command_of("worker.reads")


def run(jobs: Sequence[str] = JOBS) -> None:
    """Run jobs, read uploads and sweep until told to stop."""
    with Supervisor(get_settings().stop_seconds) as supervisor:
        # Celery greets on stdout, past every logger.
        supervisor.add(Child("jobs", jobs, os.environ, quiet=True))
        supervisor.add(Child("reads", READS, os.environ, quiet=True))
        supervisor.run()
