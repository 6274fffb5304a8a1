"""What is old enough to go: final jobs, datasets that nobody uses, files that belong to nothing.

Safe to run in any number of workers at once, and beside uploads and submissions.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import structlog
from sqlalchemy.orm import Session

from app.audit.lines import record
from app.audit.lines import remove_old as remove_old_lines
from app.audit.models import Action
from app.datasets import repository as datasets
from app.datasets.service import delete
from app.db.base import SWEEP_LIMIT
from app.db.clock import read_clock
from app.errors import Conflict, NotFound
from app.jobs import repository as jobs
from app.leases import apart
from app.settings import Settings
from app.store.base import Store
from app.store.local import untouched
from app.store.places import SCRATCH
from app.webhooks import deliveries
from app.webhooks import repository as webhooks

log = structlog.get_logger(__name__)


def remove_old(session: Session, store: Store, settings: Settings) -> None:
    """One round over all tenants."""
    with session.begin():
        now = read_clock(session)
    removed: dict[str, int] = {}
    with apart("old jobs"):
        cutoff = now - timedelta(days=settings.job_retention_days)
        removed["jobs"] = remove_jobs(session, cutoff)
    with apart("old deliveries"), session.begin():
        removed["deliveries"] = deliveries.remove_old(session, cutoff)
        webhooks.remove_unnamed(session, cutoff)
    with apart("old datasets"):
        cutoff = now - timedelta(days=settings.dataset_retention_days)
        removed["datasets"] = remove_datasets(session, store, cutoff)
    with apart("old lines of the audit"):
        cutoff = now - timedelta(days=settings.audit_retention_days)
        removed["audit"] = remove_lines(session, cutoff)
    with apart("orphans"):
        scratch, age = settings.data_dir / SCRATCH, timedelta(hours=settings.orphan_hours)
        removed["orphans"] = remove_orphans(session, store, scratch, age)
    if any(removed.values()):
        log.info("old data removed", **removed)


def remove_jobs(session: Session, cutoff: datetime) -> int:
    """Remove final jobs that ended before `cutoff`, with results, events and idempotency keys."""
    n_removed = 0
    while True:
        with session.begin():
            removed = jobs.remove_old(session, cutoff)
            for row in removed:
                record(session, row.tenant, Action.JOB_DELETED, row.id)
        n_removed += len(removed)
        if not removed:
            return n_removed


def remove_datasets(session: Session, store: Store, cutoff: datetime) -> int:
    """Remove datasets older than `cutoff` that no live job uses and no job has used since."""
    is_used = partial(jobs.is_used, since=cutoff)
    n_removed, last = 0, ""
    while True:
        with session.begin():
            old = datasets.find_old(session, cutoff, after=last)
        for row in old:
            with suppress(NotFound, Conflict):
                delete(session, row.tenant, store, row.id, is_used)
                n_removed += 1
            last = row.id
        if len(old) < SWEEP_LIMIT:
            return n_removed


def remove_lines(session: Session, cutoff: datetime) -> int:
    """Remove lines of the audit from before `cutoff`."""
    n_removed = 0
    while True:
        with session.begin():
            n_more = remove_old_lines(session, cutoff)
        n_removed += n_more
        if n_more == 0:
            return n_removed


def remove_orphans(session: Session, store: Store, scratch: Path, age: timedelta) -> int:
    """Remove what killed processes left: stored files without a row, and scratch directories."""
    orphans = [key for key in store.untouched(age) if _is_orphan(session, key)]
    for key in orphans:
        store.delete(key)
    left = list(untouched(scratch, "*", age))
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return len(orphans) + len(left)


def _is_orphan(session: Session, key: str) -> bool:
    with session.begin():
        return not datasets.exists(session, key.rpartition("/")[2])
