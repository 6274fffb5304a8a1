"""The process that reads one upload: started, watched, and asked what came of it."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import structlog

from app.datasets.faults import NO_ROOM, OUT_OF_MEMORY
from app.datasets.ingest import OUTCOME
from app.datasets.limits import Limits
from app.db.base import AnyRow
from app.processes.bare import bare_environment
from app.processes.lifeline import spawn
from worker.orders import order_for
from worker.process import Process

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.02
STDERR = "stderr"
# By somebody outside, or by the kernel, which says so elsewhere: not by the file.
FROM_OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGBUS}
CRASHED = "the file makes its reader crash; it is damaged or was made to"
KILLED = "the process that read the file was killed"

OnBeat = Callable[[], None]


def run_child(process: Process, row: AnyRow, directory: Path, on_beat: OnBeat) -> dict[str, Any]:
    """Read the upload in a process of its own, and say what came of it.

    The answer has the rows and columns that were found, or why the file is `rejected`, or what else
    `failed`. `on_beat` is called often and stops the child by raising.
    """
    limits = _limits(process, directory)
    with order_for(process, row, directory, limits) as (command, stdin):
        with (directory / STDERR).open("wb") as words:
            child = spawn(command, env=bare_environment(), stdin=stdin, stderr=words)
        try:
            overrun = _watch(child, directory, limits, on_beat)
        finally:
            child.kill()
            child.wait()
    if overrun is not None:
        return _over_budget(process, limits) if overrun == limits.out_of_room else _no(overrun)
    return _outcome(process, directory, child.returncode, limits)


def _limits(process: Process, directory: Path) -> Limits:
    settings = process.settings
    # All reads at once leave half of what is free to uploads and to the database.
    share = shutil.disk_usage(directory).free // (2 * settings.worker_readers)
    return Limits(
        memory_bytes=settings.ingest_memory_bytes,
        scratch_bytes=min(settings.ingest_scratch_bytes, share),
        seconds=settings.ingest_seconds,
        max_rows=settings.max_rows,
        max_columns=settings.max_columns,
        max_name_length=settings.max_name_length,
        max_cell_bytes=settings.max_cell_bytes,
    )


def _watch(
    child: subprocess.Popen[bytes], directory: Path, limits: Limits, on_beat: OnBeat
) -> str | None:
    """Wait for the child; the limit that it broke, if it did."""
    started = time.monotonic()
    while child.poll() is None:
        time.sleep(POLL_SECONDS)
        on_beat()
        if time.monotonic() - started > limits.seconds:
            return limits.out_of_time
        if _written(directory) > limits.scratch_bytes:
            return limits.out_of_room
    return None


def _written(directory: Path) -> int:
    """The bytes on the disk: blocks, for a file may claim a length that it does not take."""
    files = (file for file in directory.rglob("*") if file.is_file())
    return sum(_blocks(file) for file in files)


def _blocks(file: Path) -> int:
    try:
        return 512 * file.stat().st_blocks
    except FileNotFoundError:  # it went away meanwhile
        return 0


def _outcome(process: Process, directory: Path, code: int, limits: Limits) -> dict[str, Any]:
    try:
        outcome: dict[str, Any] = json.loads((directory / OUTCOME).read_text())
    except (OSError, ValueError):
        words = (directory / STDERR).read_text(errors="replace")
        log.warning("reader died", code=code, stderr=words[-2000:])
        return _epitaph(code, words, limits)
    if outcome.get("rejected") == limits.out_of_room:
        return _over_budget(process, limits)
    return outcome


def _epitaph(code: int, words: str, limits: Limits) -> dict[str, Any]:
    if -code in FROM_OUTSIDE:
        return {"failed": KILLED}
    return _no(limits.out_of_memory if OUT_OF_MEMORY.search(words) else CRASHED)


def _over_budget(process: Process, limits: Limits) -> dict[str, Any]:
    """A file that needs more than it may is refused; one that needs more than there is, waits."""
    if limits.scratch_bytes < process.settings.ingest_scratch_bytes:
        return {"failed": NO_ROOM}
    return _no(limits.out_of_room)


def _no(reason: str) -> dict[str, Any]:
    return {"rejected": reason}
