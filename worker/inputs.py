"""What a job computes with: its specification, and its columns out of the store."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, BinaryIO

import structlog

from app.datasets import repository as datasets
from app.datasets.columns import Held, load_columns
from app.datasets.keys import COLUMNS, key_of
from app.datasets.parquet_ranges import ranges_without
from app.jobs.memory import check_memory
from app.jobs.runs import Work
from app.jobs.specification import Specification, check_columns
from app.store.base import StoreAway
from core.results.selection import Progress
from worker.heartbeat import Heartbeat
from worker.process import Process

log = structlog.get_logger(__name__)

PAUSE_SECONDS = 1
PREPARING = Progress(phase="prepare", fraction=0.0)


def load_input(
    process: Process, work: Work[Any], heartbeat: Heartbeat
) -> tuple[Specification, dict[str, Held]]:
    """What is asked, and the columns it is asked of; excluded ones by name alone."""
    specification = Specification.model_validate(work.specification)
    with process.database.read() as session:
        n_rows, profile = datasets.read_profile(session, work.dataset_id)
    check_memory(specification, n_rows, profile, process.settings.worker_max_memory_bytes)
    excluded = set(specification.columns.exclude)
    with _fetch(process, work, heartbeat, excluded) as file:
        columns = load_columns(file, excluded)
    check_columns(specification, profile)
    process.preparation.wait(lambda: heartbeat.report(PREPARING))
    return specification, columns


def _fetch(process: Process, work: Work[Any], heartbeat: Heartbeat, excluded: set[str]) -> BinaryIO:
    """While the store is away the job waits, as long as anybody wants it."""
    key = key_of(work.tenant, work.dataset_id, COLUMNS)
    while True:
        try:
            return process.store.on_disk(key, partial(ranges_without, excluded))
        except StoreAway:
            log.warning("store away, trying again")
            heartbeat.check()
            time.sleep(PAUSE_SECONDS)
