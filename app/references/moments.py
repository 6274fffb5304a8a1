"""Times as somebody writes them into a condition, for columns of times to be compared with."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

from app.datasets.faults import Rejected


def moments(value: Any) -> Any:
    """A text, or each of several, as the time it says; anything else as it is."""
    if isinstance(value, list):
        return [moments(one) for one in value]
    return _parsed(value) if isinstance(value, str) else value


def _parsed(text: str) -> datetime:
    try:
        return naive(datetime.fromisoformat(text))
    except ValueError:
        raise Rejected(f"{text!r} is no time such as 2026-01-31 or 2026-01-31T10:00:00Z") from None


def naive(moment: date) -> datetime:
    """In UTC, without saying so: what has no zone is taken to be there."""
    if not isinstance(moment, datetime):
        return datetime.combine(moment, time())
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
