"""All that is known after a run: what the clients saw and what the database holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select

from app.datasets.models import Dataset
from app.db.base import AnyRow
from app.db.session import make_engine
from app.jobs.models import Job, JobEvent, JobResult, Unit
from tests.faults.clients import RETRIED
from tests.faults.history import Line, read_history

MAX_ATTEMPTS = 3


@dataclass(frozen=True)
class Evidence:
    """History, rows and the keys of files; `units` are those that their job has left behind."""

    history: list[Line]
    jobs: dict[str, AnyRow]
    events: dict[str, list[AnyRow]]
    results: dict[str, AnyRow]
    datasets: dict[str, AnyRow]
    units: list[AnyRow]
    kept: set[str]

    def lines(self, operation: str) -> Iterator[Line]:
        """The requests of one kind that were answered, and not with "try again"."""
        answered = (x for x in self.history if x["operation"] == operation and x.get("status"))
        return (line for line in answered if line["status"] not in RETRIED)


def gather(history: Path, database_url: str, kept: set[str]) -> Evidence:
    """Read history and database."""
    engine = make_engine(database_url, pool_size=0)
    with engine.connect() as connection:
        jobs = {row.id: row for row in connection.execute(select(*Job.__table__.columns))}
        events = defaultdict(list)
        ordered = select(*JobEvent.__table__.columns).order_by(JobEvent.job_id, JobEvent.seq)
        for row in connection.execute(ordered):
            events[row.job_id].append(row)
        found = connection.execute(select(*JobResult.__table__.columns))
        results = {row.job_id: row for row in found}
        known = connection.execute(select(*Dataset.__table__.columns))
        datasets = {row.id: row for row in known}
        units = list(connection.execute(select(Unit.job_id, Unit.number, Unit.status)))
    engine.dispose()
    lines = list(read_history(history))
    return Evidence(lines, jobs, events, results, datasets, units, kept)
