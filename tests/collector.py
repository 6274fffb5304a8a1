"""A collector of traces: a real HTTP server that takes OTLP as protobuf."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.receivers import Receiver, receiver


@dataclass(frozen=True)
class Span:
    """One that came in, and the part of the service that it came from."""

    service: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    start: int
    end: int
    is_failed: bool
    attributes: dict[str, Any]


@dataclass(frozen=True)
class Collector:
    """What came in, in order."""

    receiver: Receiver

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.receiver.port}/v1/traces"

    def spans(self, trace_id: str) -> list[Span]:
        """Those of one trace, earliest first."""
        found = [span for _, body in list(self.receiver.received) for span in _spans(body)]
        return sorted(
            (span for span in found if span.trace_id == trace_id), key=lambda span: span.start
        )


def _spans(body: bytes) -> Iterator[Span]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        service = _attributes(resource.resource.attributes)["service.name"]
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield Span(
                    service=service,
                    name=span.name,
                    trace_id=span.trace_id.hex(),
                    span_id=span.span_id.hex(),
                    parent_id=span.parent_span_id.hex(),
                    start=span.start_time_unix_nano,
                    end=span.end_time_unix_nano,
                    is_failed=span.status.code == span.status.STATUS_CODE_ERROR,
                    attributes=_attributes(span.attributes),
                )


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


@contextmanager
def collector() -> Iterator[Collector]:
    """One on a free port."""
    with receiver() as state:
        state.status = 200
        yield Collector(state)
