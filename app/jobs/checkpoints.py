"""What a live job has completed, kept for the attempt that may have to go on from it."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.db.base import NO_SYNC, Reader
from app.jobs.claims import JobClaim
from app.jobs.models import Job, JobCheckpoint


def save(session: Session, claim: JobClaim, version: str, parts: Mapping[str, bytes]) -> bool:
    """Keep the parts in place of older ones of their phases, while the claim holds."""
    holds = select(Job.tenant).where(*claim.holds())
    with session.begin():
        tenant = session.execute(holds.with_for_update()).scalar_one_or_none()
        if tenant is None:
            return False
        _forget(session, claim.job_id, parts)
        session.add_all(
            JobCheckpoint(
                job_id=claim.job_id, phase=phase, tenant=tenant, version=version, arrays=arrays
            )
            for phase, arrays in parts.items()
        )
    return True


def _forget(session: Session, job_id: str, phases: Mapping[str, bytes]) -> None:
    mine = (JobCheckpoint.job_id == job_id, JobCheckpoint.phase.in_(list(phases)))
    session.execute(delete(JobCheckpoint).where(*mine), execution_options=NO_SYNC)


def load(session: Reader, job_id: str, version: str) -> dict[str, bytes]:
    """What was kept by phase; another engine might not arrive at the same result."""
    mine = (JobCheckpoint.job_id == job_id, JobCheckpoint.version == version)
    statement = select(JobCheckpoint.phase, JobCheckpoint.arrays).where(*mine)
    return {row.phase: row.arrays for row in session.execute(statement)}
