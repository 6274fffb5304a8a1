"""Spans by OpenTelemetry, sent as OTLP over HTTP. Imported late."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import version

import structlog
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from app.traces.spans import Attributes, Carrier, Kind, Span, Traces

# A collector that hangs keeps no process from its end for long.
SEND_SECONDS = 5
W3C = TraceContextTextMapPropagator()


class CollectedSpan(Span):
    """One that a collector hears of."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def name(self, name: str, attributes: Attributes) -> None:
        """Say what it was."""
        self._span.update_name(name)
        self._span.set_attributes(attributes)

    def fail(self, why: str) -> None:
        """It did not do what it was for."""
        self._span.set_status(StatusCode.ERROR, why)

    def end(self) -> None:
        """It is over."""
        self._span.end()


class CollectedTraces(Traces):
    """Spans in batches, from a thread of their own."""

    is_on = True

    def __init__(self, url: str, part: str) -> None:
        about = {"service.name": f"pith-{part}", "service.version": version("pith")}
        self._provider = TracerProvider(resource=Resource.create(about))
        exporter = OTLPSpanExporter(endpoint=url, timeout=SEND_SECONDS)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("pith", version("pith"))

    @contextmanager
    def span(
        self, name: str, kind: Kind, parent: Carrier | None, attributes: Attributes
    ) -> Iterator[Span]:
        """A span around what happens within."""
        context, of_kind = _context(parent), SpanKind[kind.upper()]
        with self._tracer.start_as_current_span(name, context, of_kind, attributes) as span:
            trace_id = trace.format_trace_id(span.get_span_context().trace_id)
            with structlog.contextvars.bound_contextvars(trace_id=trace_id):
                yield CollectedSpan(span)

    def begin(self, name: str) -> Span:
        """A part of the span around."""
        return CollectedSpan(self._tracer.start_span(name))

    def past(self, name: str, parent: Carrier | None, start: datetime, end: datetime) -> None:
        """A span that is over already."""
        span = self._tracer.start_span(name, _context(parent), start_time=_nanoseconds(start))
        span.end(_nanoseconds(end))

    def carrier(self) -> dict[str, str]:
        """What makes others part of the span around."""
        carried: dict[str, str] = {}
        W3C.inject(carried)
        return carried

    def close(self) -> None:
        """Send what is left."""
        self._provider.shutdown()


def _context(parent: Carrier | None) -> Context | None:
    """That of the headers; a span without any, or with forged ones, begins a trace."""
    return None if parent is None else W3C.extract(parent, Context())


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1e9)
