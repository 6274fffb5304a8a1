"""Reads one upload: claim, a child that reads it, and what becomes of the dataset."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy.orm import Session

from app import leases
from app.connections.registry import BadConnections
from app.datasets import reads
from app.datasets.faults import PASSING
from app.datasets.keys import COLUMNS, SAMPLE, key_of
from app.datasets.repository import ReadClaim
from app.db.base import AnyRow
from app.errors import Invalid
from app.jobs import runs
from app.logs import job_context
from app.store.base import StoreAway
from app.store.places import SCRATCH
from worker.child import run_child
from worker.patience import patiently
from worker.process import Process
from worker.renewal import Interrupted, Renewal

log = structlog.get_logger(__name__)

PAUSE_SECONDS = 1.0
DISCONNECTED = "the connection could not be used"
UNSTORED = "what was read of the file could not be kept"


def read_dataset(process: Process, dataset_id: str) -> None:
    """Claim the upload and read it; nothing happens when it is not to be had."""
    with process.database.write() as session:
        claimed = reads.claim(session, dataset_id, process.new_owner(), process.lease)
    if claimed is None:
        return
    claim, row = claimed
    with job_context(dataset_id, attempt=claim.attempt):
        try:
            with Renewal(process, claim) as renewal:
                _read(process, claim, row, renewal)
        except Interrupted:
            patiently(process, lambda session: reads.hand_back(session, process.bell, claim))


def _read(process: Process, claim: ReadClaim, row: AnyRow, renewal: Renewal) -> None:
    try:
        outcome = _attempt_patiently(process, row, renewal)
    except (BadConnections, Invalid) as error:  # an operator took a connection or a secret away
        log.warning("reference not read", error=str(error))
        outcome = {"failed": DISCONNECTED}
    except OSError as error:  # a full disk, most likely: nothing that the file did
        log.warning("upload not read", error=str(error))
        outcome = {"failed": PASSING.get(error.errno or 0, UNSTORED)}
    log.info("dataset read", rejected=outcome.get("rejected"), failed=outcome.get("failed"))
    _conclude(process, claim, row, outcome)
    with process.database.write() as session:
        runs.release(session, process.bell, row.id)


def _attempt_patiently(process: Process, row: AnyRow, renewal: Renewal) -> dict[str, Any]:
    """While the store is away the upload waits: its time comes, and no attempt is charged."""
    while True:
        try:
            return _attempt(process, row, renewal)
        except StoreAway:
            log.warning("store away, trying again")
            renewal.check()
            time.sleep(PAUSE_SECONDS)


def _attempt(process: Process, row: AnyRow, renewal: Renewal) -> dict[str, Any]:
    scratch = process.settings.data_dir / SCRATCH
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        renewal.directory = Path(directory)
        outcome = run_child(process, row, Path(directory), renewal.check)
        if "columns" in outcome:
            for name in (SAMPLE, COLUMNS):
                _keep(process, row, Path(directory) / name)
    return outcome


def _keep(process: Process, row: AnyRow, file: Path) -> None:
    key = key_of(row.tenant, row.id, file.name)
    with process.store.put(key) as target, file.open("rb") as source:
        shutil.copyfileobj(source, target)


def _conclude(process: Process, claim: ReadClaim, row: AnyRow, outcome: dict[str, Any]) -> None:
    if "failed" in outcome:
        _put_off(process, claim, outcome["failed"])
        return
    if "rejected" in outcome:
        patiently(process, lambda session: reads.reject(session, claim, outcome["rejected"]))
        return

    def write(session: Session) -> bool:
        accepted = reads.accept(session, claim, outcome)
        return accepted or not reads.is_gone(session, row.id)

    if not patiently(process, write):  # deleted while it was read
        process.store.delete(key_of(row.tenant, row.id))


def _put_off(process: Process, claim: ReadClaim, why: str) -> None:
    settings = process.settings
    if claim.attempt >= settings.max_attempts:
        reason = f"{why}, {claim.attempt} times; upload it again to have it read again"
        patiently(process, lambda session: reads.reject(session, claim, reason))
        return
    wait = leases.back_off(claim.attempt, settings)
    patiently(process, lambda session: reads.put_off(session, claim, wait))
