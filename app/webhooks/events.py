"""What is told to whom: news of the service as CloudEvents 1.0."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

MEDIA_TYPE = "application/cloudevents+json"


class EventKind(StrEnum):
    """What an endpoint can ask to hear of."""

    JOB_SUCCEEDED = "job.succeeded"
    JOB_FAILED = "job.failed"
    JOB_CANCELLED = "job.cancelled"
    JOB_EXPIRED = "job.expired"
    DATASET_READY = "dataset.ready"
    DATASET_REJECTED = "dataset.rejected"


PING = "ping"


@dataclass(frozen=True, kw_only=True)
class News:
    """Something that is over: a job, the reading of a dataset; `notify` may name one address."""

    tenant: str
    kind: str
    source: str
    subject: str
    time: datetime
    data: Mapping[str, Any]
    labels: Mapping[str, str] = field(default_factory=dict)
    notify: str | None = None
    trace: Mapping[str, str] | None = None

    def interests(self, events: Sequence[str], labels: Mapping[str, str]) -> bool:
        """Whether an endpoint with these filters is to hear of it: every label must agree."""
        agree = all(self.labels.get(name) == value for name, value in labels.items())
        return agree and self.kind in events

    def to_json(self, event_id: str) -> str:
        """The body of the request, in which every receiver finds the same."""
        envelope = {
            "specversion": "1.0",
            "id": event_id,
            "source": self.source,
            "type": self.kind,
            "subject": self.subject,
            "time": self.time.isoformat(),
            "datacontenttype": "application/json",
            "data": dict(self.data),
        }
        return json.dumps(envelope, default=_as_text)


def _as_text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{value!r} is not for a body")
