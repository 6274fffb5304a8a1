"""Saves what a job has completed now and then, so that another attempt goes on from there."""

from __future__ import annotations

import io
import time
from typing import Any

import numpy as np
import structlog
from numpy.typing import NDArray
from sqlalchemy.exc import SQLAlchemyError

from app.jobs import checkpoints
from app.jobs.claims import JobClaim
from app.provenance import engine_key
from core.checkpoint import Checkpoint
from worker.process import Process

log = structlog.get_logger(__name__)


class CheckpointKeeper:
    """The checkpoint of one run: taken up at its start, saved at most every so many seconds."""

    def __init__(self, process: Process, claim: JobClaim) -> None:
        self._process = process
        self._claim = claim
        self._engine = engine_key()
        with process.database.read() as session:
            parts = checkpoints.load(session, claim.job_id, self._engine)
        self.checkpoint = Checkpoint.from_parts({p: unpack(data) for p, data in parts.items()})
        self._saved = self.checkpoint.sizes()
        self._at = time.monotonic()
        if parts:
            log.info("job goes on", **self._saved)

    def save_when_due(self) -> None:
        """Save if enough work has been done since the last time."""
        if time.monotonic() - self._at >= self._process.settings.checkpoint_seconds:
            self.save()

    def save(self) -> None:
        """Save what is new; a job does not fail for want of a checkpoint."""
        self._at = time.monotonic()
        sizes = self.checkpoint.sizes()
        grown = {phase for phase, size in sizes.items() if size != self._saved.get(phase)}
        if grown:
            parts = self.checkpoint.to_parts()
            self._write({phase: pack(parts[phase]) for phase in grown}, sizes)

    def _write(self, parts: dict[str, bytes], sizes: dict[str, int]) -> None:
        try:
            with self._process.database.write() as session:
                checkpoints.save(session, self._claim, self._engine, parts)
        except SQLAlchemyError as error:
            log.warning("checkpoint not saved", error=str(error))
            return
        self._saved = sizes


def pack(arrays: dict[str, NDArray[Any]]) -> bytes:
    """Arrays as the bytes of an .npz file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file."""
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        return dict(file)
