"""The life of a job, without a database: which transitions exist and what decides among them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Priority(StrEnum):
    """What comes first among the jobs of one tenant; other tenants do not notice."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """Higher comes first."""
        return list(Priority).index(self)


class Status(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"

    @property
    def is_final(self) -> bool:
        """Whether nothing changes any more."""
        return self in FINAL


class ExportStatus(StrEnum):
    """Where the files of a result are on their way out."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


FINAL = frozenset({Status.SUCCEEDED, Status.FAILED, Status.CANCELLED, Status.EXPIRED})
LIVE = frozenset({Status.QUEUED, Status.RUNNING})


@dataclass(frozen=True)
class Transition:
    """From one of `sources` to `target`, recorded as `event`."""

    sources: frozenset[Status]
    target: Status
    event: str


_QUEUED = frozenset({Status.QUEUED})
_RUNNING = frozenset({Status.RUNNING})

CLAIM = Transition(_QUEUED, Status.RUNNING, "started")
SUCCEED = Transition(_RUNNING, Status.SUCCEEDED, "succeeded")
FAIL = Transition(_RUNNING, Status.FAILED, "failed")
REFUSE = Transition(_QUEUED, Status.FAILED, "failed")
HAND_BACK = Transition(_RUNNING, Status.QUEUED, "handed_back")
LEASE_EXPIRED = Transition(_RUNNING, Status.QUEUED, "lease_expired")
CANCEL_QUEUED = Transition(_QUEUED, Status.CANCELLED, "cancelled")
CANCEL_RUNNING = Transition(_RUNNING, Status.CANCELLED, "cancelled")
EXPIRE_QUEUED = Transition(_QUEUED, Status.EXPIRED, "expired")
EXPIRE_RUNNING = Transition(_RUNNING, Status.EXPIRED, "expired")

TRANSITIONS = (
    CLAIM,
    SUCCEED,
    FAIL,
    REFUSE,
    HAND_BACK,
    LEASE_EXPIRED,
    CANCEL_QUEUED,
    CANCEL_RUNNING,
    EXPIRE_QUEUED,
    EXPIRE_RUNNING,
)


class Stop(StrEnum):
    """Why a run ends before its result; `kept` ends it with a result of what is done."""

    CANCELLED = "cancelled"
    EXPIRED = "expired"
    KEPT = "kept"
    LOST = "lost"
    HANDED_BACK = "handed_back"
    # It asks for what this version does not know: a newer worker will come by.
    LEFT = "left"


def stop_of(
    *, cancel_requested: bool, keep_requested: bool, deadline_at: datetime, now: datetime
) -> Stop | None:
    """What the heartbeat tells the worker: a cancel goes before a deadline, and that before a keep.

    A worker that falls silent over a keep is replaced as any other: what it had chosen is chosen
    again, or taken up from a checkpoint, and kept then.
    """
    if cancel_requested:
        return Stop.CANCELLED
    if deadline_at <= now:
        return Stop.EXPIRED
    return Stop.KEPT if keep_requested else None


def after_lost_lease(
    *, attempt: int, max_attempts: int, stop: Stop | None
) -> tuple[Transition, bool]:
    """The transition of a job whose worker fell silent, and whether that was its last attempt."""
    if stop is Stop.CANCELLED:
        return CANCEL_RUNNING, False
    if stop is Stop.EXPIRED:
        return EXPIRE_RUNNING, False
    if attempt >= max_attempts:
        return FAIL, True
    return LEASE_EXPIRED, False
