"""All SQL about what jobs found. Nothing here begins or commits."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, LargeBinary, func, select
from sqlalchemy.orm import Session

from app.db.base import Reader
from app.db.clock import moment
from app.jobs.models import JobResult


def add_result(session: Session, result: JobResult) -> None:
    """Insert what a job found."""
    result.created_at = moment()
    session.add(result)
    session.flush()


def read_document(session: Reader, tenant: str, job_id: str) -> dict[str, Any] | None:
    """The result without its arrays."""
    statement = select(JobResult.document)
    statement = statement.where(*_of(tenant, job_id))
    return session.execute(statement).scalar_one_or_none()


def has_result(session: Reader, tenant: str, job_id: str) -> bool:
    """Whether a job has found something."""
    statement = select(JobResult.job_id)
    statement = statement.where(*_of(tenant, job_id))
    return session.execute(statement).first() is not None


def measure_arrays(session: Reader, tenant: str, job_id: str) -> int | None:
    """How many bytes the factors take; None where there are none."""
    statement = select(func.length(JobResult.arrays))
    statement = statement.where(*_of(tenant, job_id))
    return session.execute(statement).scalar_one_or_none()


def read_arrays(session: Reader, tenant: str, job_id: str, start: int, n_bytes: int) -> bytes:
    """Some bytes of the factors, which are an .npz file."""
    piece = func.substr(JobResult.arrays, start + 1, n_bytes, type_=LargeBinary)
    statement = select(piece).where(*_of(tenant, job_id))
    return session.execute(statement).scalar_one_or_none() or b""


def _of(tenant: str, job_id: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return JobResult.job_id == job_id, JobResult.tenant == tenant
