"""Traces: one from the caller's `traceparent` through API, queue and worker to the webhook.

They go to the collector of `PITH_TRACES_URL`. Without it OpenTelemetry is not even imported, and
every call here does nothing. The way of a trace through the queue is the job's row: a message may
be lost, and a worker takes the job that is next, whichever it was called for.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Literal

# The headers of W3C Trace Context, as they are sent and as rows keep them.
Carrier = Mapping[str, str]
Attributes = Mapping[str, str | int | float | bool]
Kind = Literal["server", "client", "producer", "consumer", "internal"]


class Span:
    """One that is told to nobody."""

    def name(self, name: str, attributes: Attributes) -> None:
        """Say what it was, which may be known at its end only."""

    def fail(self, why: str) -> None:
        """It did not do what it was for."""

    def end(self) -> None:
        """It is over; one that is entered as a context ends by itself."""


UNTOLD = Span()


class Traces:
    """Where spans are made; here, none."""

    is_on = False

    def span(
        self, name: str, kind: Kind, parent: Carrier | None, attributes: Attributes
    ) -> AbstractContextManager[Span]:
        """A span around what happens within, whose lines in the log carry the trace's id."""
        return nullcontext(UNTOLD)

    def begin(self, name: str) -> Span:
        """A part of the span around; it is its maker's to end."""
        return UNTOLD

    def past(self, name: str, parent: Carrier | None, start: datetime, end: datetime) -> None:
        """A span that is over already."""

    def carrier(self) -> dict[str, str]:
        """What makes others part of the span around; empty without one."""
        return {}

    def close(self) -> None:
        """Send what is left."""
