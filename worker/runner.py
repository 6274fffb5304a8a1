"""One job: row, columns, core, result. No Celery in here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from app.cluster.faults import ClusterAway, ColumnsOutOfReach
from app.datasets import repository as datasets
from app.datasets.faults import Damaged
from app.errors import ServiceError
from app.jobs import runs
from app.jobs.claims import JobClaim
from app.jobs.endings import Failure
from app.jobs.models import JobResult
from app.jobs.runs import Work
from app.jobs.specification import config_of, methods_beside, with_unasked
from app.jobs.state import Stop
from app.logs import job_context
from app.provenance import versions
from core.cost.engines import EngineName
from core.errors import CoreError, ScratchFault
from core.pipeline import select_features
from core.results.selection import Progress, SelectionResult
from worker.checkpoints import CheckpointKeeper, pack
from worker.heartbeat import Heartbeat, Stopped
from worker.inputs import open_input
from worker.patience import patiently
from worker.phases import end_run, run_span
from worker.process import Process
from worker.recorder import Recorder, finite
from worker.sizes import check_document, keep_arrays

log = structlog.get_logger(__name__)

RUN = "run job"
INTERNAL = Failure(
    "internal_error",
    "the service failed at this job; its log has the reason under the job's id",
    retryable=True,
)
OUT_OF_MEMORY = Failure(
    "out_of_memory", "the job needs more memory than its worker has; use fewer columns or rows"
)
# What a job stands on, and whether it may hold the next time.
BENEATH_A_JOB: dict[type[Exception], tuple[str, bool]] = {
    ColumnsOutOfReach: ("columns_out_of_reach", True),
    ScratchFault: ("scratch_failed", True),
    Damaged: ("dataset_damaged", False),
}


def run_job(process: Process, job_id: str) -> bool:
    """Claim the job and bring it to an end; False when it is not to be had."""
    with process.database.write() as session:
        max_running = process.settings.tenant_max_running_jobs
        work = runs.claim(session, job_id, process.new_owner(), process.lease, max_running)
    if work is None:
        return False
    with run_span(RUN, work) as span, job_context(job_id, attempt=work.claim.attempt):
        log.info("job started")
        outcome = _execute(process, work)
        end_run(RUN, span, outcome)
        log.info("job ended", outcome=outcome)
    with process.database.write() as session:
        runs.ring_next(session, process.bell, work.tenant, max_running)
    return True


def _execute(process: Process, work: Work[JobClaim]) -> str:
    recorder = Recorder()
    try:
        with Heartbeat(process, work.claim, recorder) as heartbeat:
            heartbeat.check()
            keeper = CheckpointKeeper(process, work.claim)
            result = compute(process, work, heartbeat, keeper)
    except Stopped as stopped:
        return _stop(process, work, stopped.reason)
    except (OperationalError, ClusterAway) as error:  # what is away is no fault of the job
        log.warning("handing back", error=str(getattr(error, "orig", error)))
        return _stop(process, work, Stop.HANDED_BACK)
    except Exception as error:  # every fault ends the job, and none the worker
        return _fail(process, work, recorder, explain(error))
    return _succeed(process, work, recorder, result)


def compute(
    process: Process,
    work: Work[Any],
    heartbeat: Heartbeat,
    keeper: CheckpointKeeper | None = None,
) -> JobResult:
    """Select the features of a whole job, or of one of its units, which is small enough to lose."""
    process.tables.clear()
    patiently(process, lambda session: runs.begin(session, work, process.connections))
    sha256 = patiently(
        process, lambda session: datasets.read_sha256(session, work.tenant, work.dataset_id)
    )
    report = heartbeat.report if keeper is None else _saving(heartbeat, keeper)
    checkpoint = None if keeper is None else keeper.checkpoint
    with open_input(process, work, heartbeat) as given:
        config = config_of(given.specification, process.n_threads)
        columns, target = given.columns, given.specification.target
        with _kept(keeper):
            result = select_features(
                columns, target, config, report, checkpoint,
                engine=given.engine, origin=given.origin,
                beside=methods_beside(given.specification),
            )  # fmt: skip
    provenance = _provenance(work, sha256, given.engine_name)
    document = finite({**result.to_json(), "provenance": provenance})
    arrays = keep_arrays(document, _pack(result))
    return JobResult(
        job_id=work.claim.job_id,
        tenant=work.tenant,
        document=check_document(document),
        arrays=arrays,
    )


@contextmanager
def _kept(keeper: CheckpointKeeper | None) -> Iterator[None]:
    """Save what is done when the cluster goes away."""
    try:
        yield
    except ClusterAway:
        if keeper is not None:
            keeper.save()
        raise


def _saving(heartbeat: Heartbeat, keeper: CheckpointKeeper) -> Callable[[Progress], None]:
    """Report, and save what is done now and then and when the job is handed back."""

    def report(progress: Progress) -> None:
        try:
            heartbeat.report(progress)
        except Stopped as stopped:
            if stopped.reason is Stop.HANDED_BACK:
                keeper.save()
            raise
        keeper.save_when_due()

    return report


def _provenance(work: Work[Any], sha256: str, engine: EngineName) -> dict[str, Any]:
    return {
        "dataset": {"id": work.dataset_id, "sha256": sha256},
        "specification": with_unasked(work.specification),
        "seed": work.specification["seed"],
        "versions": versions(),
        "engine": engine,
    }


def _pack(result: SelectionResult) -> bytes | None:
    arrays = result.to_arrays()
    if not arrays:
        return None
    return pack(arrays)


def explain(error: Exception) -> Failure:
    """The fault in words for the job's owner."""
    if isinstance(error, CoreError):
        return Failure(error.code, str(error))
    if isinstance(error, MemoryError):
        return OUT_OF_MEMORY
    for kind, (code, retryable) in BENEATH_A_JOB.items():
        if isinstance(error, kind):
            log.error("job failed by what it stands on", code=code, exc_info=error)
            return Failure(code, str(error), retryable=retryable)
    if isinstance(error, ServiceError):
        return Failure(error.code, error.detail)
    log.error("job failed by a fault of ours", exc_info=error)
    return INTERNAL


def _succeed(process: Process, work: Work[JobClaim], recorder: Recorder, result: JobResult) -> str:
    values, events = recorder.close()
    # With k="auto" more were tried than the result keeps.
    values["chosen"] = [feature["name"] for feature in result.document["selected"]]

    def write(session: Session) -> bool:
        return runs.succeed(session, work.claim, result, values, events)

    return "succeeded" if patiently(process, write) else "lost"


def _fail(process: Process, work: Work[JobClaim], recorder: Recorder, failure: Failure) -> str:
    values, events = recorder.close()

    def write(session: Session) -> bool:
        return runs.fail(session, work.claim, failure, values, events)

    return f"failed: {failure.code}" if patiently(process, write) else "lost"


def _stop(process: Process, work: Work[JobClaim], reason: Stop) -> str:
    patiently(process, lambda session: runs.stop(session, process.bell, work.claim, reason))
    return reason
