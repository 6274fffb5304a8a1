"""One job: row, columns, core, result. No Celery in here."""

from __future__ import annotations

import io
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, TypeVar

import numpy as np
import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app.datasets import repository as datasets
from app.datasets.columns import load_columns
from app.datasets.store import COLUMNS, key_of
from app.db.base import utc_now
from app.errors import ServiceError
from app.jobs import service
from app.jobs.models import JobResult
from app.jobs.service import Failure, Work
from app.jobs.specification import Specification, check_columns, config_of
from app.jobs.state import Stop
from app.logs import job_context
from core.errors import CoreError, InvalidConfig
from core.pipeline import select_features
from core.results import SelectionResult
from worker.heartbeat import Heartbeat, Stopped
from worker.process import Process
from worker.recorder import Recorder, finite

log = structlog.get_logger(__name__)
T = TypeVar("T")

RECORDED_VERSIONS = ("pith", "numpy", "scipy", "numba")
INTERNAL = Failure(
    "internal_error",
    "the service failed at this job; its log has the reason under the job's id",
    retryable=True,
)
OUT_OF_MEMORY = Failure(
    "out_of_memory", "the job needs more memory than its worker has; use fewer columns or rows"
)


def run_job(process: Process, job_id: str) -> None:
    """Claim the job and bring it to an end; nothing happens when it is not to be had."""
    with process.database.write() as session:
        work = service.claim(session, job_id, process.new_owner(), process.lease)
    if work is None:
        return
    with job_context(job_id, attempt=work.claim.attempt):
        log.info("job started")
        outcome = _execute(process, work)
        log.info("job ended", outcome=outcome)


def _execute(process: Process, work: Work) -> str:
    recorder = Recorder()
    try:
        with Heartbeat(process, work.claim, recorder) as heartbeat:
            heartbeat.check()
            result = _compute(process, work, heartbeat)
    except Stopped as stopped:
        return _stop(process, work, stopped.reason)
    except Exception as error:  # every fault ends the job, and none the worker
        return _fail(process, work, recorder, _explain(error))
    return _succeed(process, work, recorder, result)


def _compute(process: Process, work: Work, heartbeat: Heartbeat) -> JobResult:
    specification = Specification.model_validate(work.specification)
    with process.database.read() as session:
        sha256 = datasets.read_sha256(session, work.tenant, work.dataset_id)
    with process.store.open(key_of(work.tenant, work.dataset_id, COLUMNS)) as file:
        columns = load_columns(file)
    check_columns(specification, list(columns))
    config = config_of(specification, process.settings.worker_threads)
    result = select_features(columns, specification.target, config, heartbeat.report)
    return JobResult(
        job_id=work.claim.job_id,
        tenant=work.tenant,
        created_at=utc_now(),
        document=finite({**result.to_json(), "provenance": _provenance(work, sha256)}),
        arrays=_pack(result),
    )


def _provenance(work: Work, sha256: str) -> dict[str, Any]:
    versions = {name: version(name) for name in RECORDED_VERSIONS}
    return {
        "dataset": {"id": work.dataset_id, "sha256": sha256},
        "specification": work.specification,
        "seed": work.specification["seed"],
        "versions": {**versions, "python": platform.python_version()},
    }


def _pack(result: SelectionResult) -> bytes | None:
    arrays = result.to_arrays()
    if not arrays:
        return None
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _explain(error: Exception) -> Failure:
    if isinstance(error, CoreError):
        code = "invalid_config" if isinstance(error, InvalidConfig) else "invalid_data"
        return Failure(code, str(error))
    if isinstance(error, ServiceError):
        return Failure(error.code, error.detail)
    if isinstance(error, MemoryError):
        return OUT_OF_MEMORY
    log.error("job failed by a fault of ours", exc_info=error)
    return INTERNAL


def _succeed(process: Process, work: Work, recorder: Recorder, result: JobResult) -> str:
    values, events = recorder.close()
    # With k="auto" more were tried than the result keeps.
    values["chosen"] = [feature["name"] for feature in result.document["selected"]]

    def write(session: Session) -> bool:
        return service.succeed(session, work.claim, result, values, events)

    return "succeeded" if _persist(process, write) else "lost"


def _fail(process: Process, work: Work, recorder: Recorder, failure: Failure) -> str:
    values, events = recorder.close()

    def write(session: Session) -> bool:
        return service.fail(session, work.claim, failure, values, events)

    return f"failed: {failure.code}" if _persist(process, write) else "lost"


def _stop(process: Process, work: Work, reason: Stop) -> str:
    _persist(process, lambda session: service.stop(session, process.bell, work.claim, reason))
    return reason


def _persist(process: Process, write: Callable[[Session], T]) -> T:
    """Try while the lease may hold: hours of work are not lost to a restart of the database."""
    patience = time.monotonic() + process.settings.lease_seconds
    while True:
        try:
            with process.database.write() as session:
                return write(session)
        except DBAPIError as error:
            if time.monotonic() > patience:
                raise
            log.warning("database away, trying again", error=str(error.orig))
            time.sleep(1)
