"""The program that runs jobs: processes of a Celery pool, each prepared once."""

from __future__ import annotations

from typing import Any

from celery import signals

from app.broker import JOBS_QUEUE, RUN_JOB, RUN_UNIT
from app.settings import Settings
from app.traces import current
from core.warm import warm_default
from worker.pool import make_process, work_on
from worker.turns import run_next


def main() -> None:
    """Run jobs until told to stop."""
    process = make_process()
    process.celery.conf.update(_limits(process.settings))

    def run(job_id: str) -> None:
        run_next(process, job_id)

    for call in (RUN_JOB, RUN_UNIT):
        process.celery.task(run, name=call.task)

    @signals.worker_process_init.connect(weak=False)  # type: ignore[untyped-decorator]
    def prepare(**_: Any) -> None:
        current.configure(process.settings, "jobs")
        process.preparation.start(warm_default)

    @signals.worker_process_shutdown.connect(weak=False)  # type: ignore[untyped-decorator]
    def end_traces(**_: Any) -> None:
        current.close()

    work_on(process, JOBS_QUEUE, "prefork", process.settings.worker_concurrency)


def _limits(settings: Settings) -> dict[str, Any]:
    return {
        # Leaks of libraries end with the process.
        "worker_max_tasks_per_child": settings.worker_max_jobs,
        "worker_max_memory_per_child": settings.worker_max_memory_bytes // 1024,
        # Deadlines are checked between kernels; this is the backstop for a run that never returns.
        "task_time_limit": settings.max_deadline_seconds + int(settings.lease_seconds),
        # A busy machine may need longer to start one than the default of 4 s, which would kill it.
        "worker_proc_alive_timeout": 60.0,
        # Runs go on while the broker is away: the row, not the message, says whose they are.
        "worker_cancel_long_running_tasks_on_connection_loss": False,
    }
