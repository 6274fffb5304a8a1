"""Counters that outlive processes, kept in the database, and what `/metrics` shows of them.

Workers come and go and there may be many; a counter raised in the transaction that changes the row
is exact, whoever dies, and needs no second port.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from sqlalchemy import Insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.db.base import Base, Reader
from app.db.text import Line

ATTEMPTS = "attempts"
LEASE_EXPIRIES = "lease_expiries"
FINISHED = "finished"
DELIVERIES = "deliveries"
EXPORTS = "exports"
PHASE_SECONDS = "phase_seconds"
PHASE_COUNT = "phase_count"


class Counter(Base):
    """One number that only rises."""

    __tablename__ = "counters"

    name: Mapped[str] = mapped_column(Line(32), primary_key=True)
    label: Mapped[str] = mapped_column(Line(32), primary_key=True, default="")
    value: Mapped[float] = mapped_column(default=0.0)


def count(session: Session, amounts: Mapping[tuple[str, str], float]) -> None:
    """Raise counters, in a fixed order so that two transactions cannot block each other."""
    for (name, label), amount in sorted(amounts.items()):
        session.execute(_upsert(session, name, label, amount))


def _upsert(session: Session, name: str, label: str, amount: float) -> Insert:
    dialect: Any = {"postgresql": postgresql, "sqlite": sqlite}[session.get_bind().dialect.name]
    statement = dialect.insert(Counter).values(name=name, label=label, value=amount)
    upsert: Insert = statement.on_conflict_do_update(
        index_elements=["name", "label"], set_={"value": Counter.value + amount}
    )
    return upsert


def read_counters(session: Reader) -> dict[tuple[str, str], float]:
    """Every counter by name and label."""
    rows = session.execute(select(Counter.name, Counter.label, Counter.value))
    return {(name, label): value for name, label, value in rows}


def job_metrics(
    counters: Mapping[tuple[str, str], float],
    by_status: Mapping[str, int],
    queue_age: float,
) -> Iterable[Metric]:
    """The families about jobs, for Prometheus."""
    jobs = GaugeMetricFamily("pith_jobs", "Jobs kept, by status", labels=["status"])
    for status, n_jobs in by_status.items():
        jobs.add_metric([status], n_jobs)
    yield jobs
    yield GaugeMetricFamily("pith_queue_age_seconds", "Age of the oldest queued job", queue_age)
    yield _single(counters, ATTEMPTS, "pith_job_attempts", "Claims of jobs by workers")
    yield _single(counters, LEASE_EXPIRIES, "pith_lease_expiries", "Workers taken for dead")
    finished = CounterMetricFamily("pith_jobs_finished", "Jobs ended", labels=["status"])
    told = CounterMetricFamily("pith_webhook_deliveries", "Attempts", labels=["outcome"])
    exports = CounterMetricFamily("pith_exports", "Attempts to write results", labels=["outcome"])
    phases = SummaryMetricFamily("pith_phase_seconds", "Time in each phase", labels=["phase"])
    for (name, label), value in sorted(counters.items()):
        if name == FINISHED:
            finished.add_metric([label], value)
        if name == DELIVERIES:
            told.add_metric([label], value)
        if name == EXPORTS:
            exports.add_metric([label], value)
        if name == PHASE_COUNT:
            seconds = counters.get((PHASE_SECONDS, label), 0.0)
            phases.add_metric([label], int(value), seconds)
    yield finished
    yield told
    yield exports
    yield phases


def _single(
    counters: Mapping[tuple[str, str], float], name: str, metric: str, help_text: str
) -> Metric:
    return CounterMetricFamily(metric, help_text, counters.get((name, ""), 0.0))
