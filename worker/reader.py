"""Reads one upload in a process of its own, which may die of it."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.datasets import reads
from app.datasets.ingest import OUTCOME, Order
from app.datasets.limits import Limits
from app.datasets.repository import ReadClaim
from app.datasets.store import COLUMNS, RAW, SCRATCH, key_of
from app.db.base import AnyRow
from app.jobs import runs
from app.logs import job_context
from app.processes.lifeline import command_of, spawn
from worker.patience import patiently
from worker.process import Process

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.02
STDERR = "stderr"


class Interrupted(Exception):
    """The dataset was taken away, or this worker was told to stop."""


def read_dataset(process: Process, dataset_id: str) -> None:
    """Claim the upload and read it; nothing happens when it is not to be had."""
    with process.database.write() as session:
        claimed = reads.claim(session, dataset_id, process.new_owner(), process.lease)
    if claimed is None:
        return
    claim, row = claimed
    with job_context(dataset_id, attempt=claim.attempt):
        try:
            _read(process, claim, row)
        except Interrupted:
            patiently(process, lambda session: reads.hand_back(session, process.bell, claim))


def _read(process: Process, claim: ReadClaim, row: AnyRow) -> None:
    scratch = process.settings.data_dir / SCRATCH
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        outcome = run_child(process, claim, row, Path(directory))
        log.info("dataset read", rejected=outcome.get("rejected"))
        _conclude(process, claim, row, outcome, Path(directory) / COLUMNS)
    with process.database.write() as session:
        runs.release(session, process.bell, row.id)


def _conclude(
    process: Process, claim: ReadClaim, row: AnyRow, outcome: dict[str, Any], columns: Path
) -> None:
    if "rejected" in outcome:
        patiently(process, lambda session: reads.reject(session, claim, outcome["rejected"]))
        return
    key = key_of(row.tenant, row.id, COLUMNS)
    with process.store.put(key) as target, columns.open("rb") as source:
        shutil.copyfileobj(source, target)

    def write(session: Session) -> bool:
        accepted = reads.accept(session, claim, outcome["n_rows"], outcome["columns"])
        return accepted or not reads.is_gone(session, row.id)

    if not patiently(process, write):  # deleted while it was read
        process.store.delete(key_of(row.tenant, row.id))


def run_child(process: Process, claim: ReadClaim, row: AnyRow, directory: Path) -> dict[str, Any]:
    """Read the upload in a process of its own, and say what came of it."""
    limits = _limits(process)
    with process.store.open(key_of(row.tenant, row.id, RAW)) as source:
        order = Order(
            source="/dev/fd/0",
            directory=str(directory),
            format=row.format,
            options=row.options,
            limits=asdict(limits),
        )
        with (directory / STDERR).open("wb") as words:
            command = command_of("app.datasets.ingest", order.to_json())
            child = spawn(command, stdin=source, stderr=words)
        try:
            in_time = _await(process, claim, child, limits)
        finally:
            child.kill()
            child.wait()
    return _outcome(directory, child.returncode, limits, in_time=in_time)


def _limits(process: Process) -> Limits:
    settings = process.settings
    return Limits(
        memory_bytes=settings.ingest_memory_bytes,
        seconds=settings.ingest_seconds,
        max_rows=settings.max_rows,
        max_columns=settings.max_columns,
        max_name_length=settings.max_name_length,
        max_cell_bytes=settings.max_cell_bytes,
    )


def _await(
    process: Process, claim: ReadClaim, child: subprocess.Popen[bytes], limits: Limits
) -> bool:
    """Wait for the child, renewing the lease; False when it takes too long and is to be killed."""
    started = renewed = time.monotonic()
    while child.poll() is None and time.monotonic() - started < limits.seconds:
        time.sleep(POLL_SECONDS)
        if process.stopping.is_set():
            raise Interrupted
        if time.monotonic() - renewed > process.settings.heartbeat_seconds:
            renewed = time.monotonic()
            if not _renew(process, claim):
                raise Interrupted
    return child.poll() is not None


def _renew(process: Process, claim: ReadClaim) -> bool:
    try:
        with process.pulse.write() as session:
            return reads.renew(session, claim, process.lease)
    except SQLAlchemyError as error:  # what was read is still accepted, if the claim holds then
        log.warning("lease not renewed", error=str(error))
        return True


def _outcome(directory: Path, code: int, limits: Limits, *, in_time: bool) -> dict[str, Any]:
    try:
        outcome: dict[str, Any] = json.loads((directory / OUTCOME).read_text())
    except (OSError, ValueError):
        words = (directory / STDERR).read_text(errors="replace")
        log.warning("reader died", code=code, stderr=words[-2000:])
        over = code == -signal.SIGXCPU or not in_time
        return {"rejected": limits.out_of_time if over else _cause(code, words, limits)}
    return outcome


def _cause(code: int, words: str, limits: Limits) -> str:
    killed = code == -signal.SIGKILL  # by the kernel, which ran out
    if killed or any(word in words.lower() for word in ("memory", "alloc", "failed to map")):
        return limits.out_of_memory
    return "the file makes its reader crash; it is damaged or was made to"
