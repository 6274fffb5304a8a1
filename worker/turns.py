"""What a free worker does when it is called: the job that is next, whichever it was called for."""

from __future__ import annotations

from app.db.base import AnyRow
from app.jobs import order
from worker.process import Process
from worker.runner import run_job
from worker.units import run_unit

# Others may take the same job at the same moment, each time one of them.
MOST_TRIES = 50


def run_next(process: Process, rung_for: str) -> None:
    """Run one job, or one unit of one; the job that was rung for keeps its ring if it waits."""
    is_passed_on = False
    for _ in range(MOST_TRIES):
        job = _find(process)
        if not is_passed_on and (job is None or job.id != rung_for):
            is_passed_on = True
            with process.database.write() as session:
                limit = process.settings.tenant_max_running_jobs
                order.pass_on(session, process.bell, rung_for, limit)
        if job is None or _run(process, job):
            return


def _find(process: Process) -> AnyRow | None:
    settings = process.settings
    with process.database.read() as session:
        return order.find_next(session, settings.tenant_max_running_jobs, settings.tenant_shares)


def _run(process: Process, job: AnyRow) -> bool:
    return run_unit(process, job.id) if job.n_units else run_job(process, job.id)
