"""One trace from the caller's header to the webhook, read back from a collector."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from secrets import token_hex
from typing import Any

import pytest

from tests.app.running import Service
from tests.collector import Collector, Span
from tests.receivers import Receiver, receiver
from tests.servers import until

CALLER = "00f067aa0ba902b7"
# FastAPI and redis import parts of OpenTelemetry where they find it; what sends spans, we alone.
# Polars is for tables, which few of these processes ever open.
UNUSED = """
import sys, app.main, worker.reads
sys.exit(not sys.modules.keys().isdisjoint(["opentelemetry.exporter", "polars"]))
"""


@pytest.fixture(scope="module")
def hearing() -> Iterator[Receiver]:
    with receiver() as state:
        yield state


def submit(service: Service, target: str, notify: str, sampled: bool = True) -> tuple[str, str]:
    """A job of a caller who traces; answers its id and that of the trace."""
    trace_id, dataset_id = token_hex(16), service.ready_dataset()
    headers = {"traceparent": f"00-{trace_id}-{CALLER}-0{int(sampled)}", "tracestate": "them=1"}
    body = {"dataset_id": dataset_id, "target": target, "k": 2, "notify": notify}
    answer = service.client.post("/v1/jobs", json=body, headers=headers)
    return answer.json()["id"], trace_id


def tree(spans: list[Span], parent_id: str) -> list[Any]:
    """Names, each followed by what happened within."""
    within = [span for span in spans if span.parent_id == parent_id]
    return sorted((span.service, span.name, tree(spans, span.span_id)) for span in within)


def test_the_whole_way_of_a_job_is_one_trace(
    service: Service, collector: Collector, hearing: Receiver
) -> None:
    job_id, trace_id = submit(service, "y", hearing.url)
    until(lambda: len(collector.spans(trace_id)) == 9)
    spans = collector.spans(trace_id)
    jobs: list[Any] = [("pith-jobs", phase, []) for phase in ("encode", "fit", "select")]
    assert tree(spans, CALLER) == [
        (
            "pith-api",
            "POST /v1/jobs",
            [
                ("pith-jobs", "queue", []),
                ("pith-jobs", "run job", jobs),
                ("pith-reads", "tell job.succeeded", []),
                ("pith-reads", "tell lineage.complete", []),
                ("pith-reads", "tell lineage.start", []),
            ],
        )
    ]
    found = {span.name: span for span in spans}
    assert found["POST /v1/jobs"].attributes["http.response.status_code"] == 202
    run = found["run job"].attributes
    assert (run["pith.job_id"], run["pith.outcome"]) == (job_id, "succeeded")
    assert all(span.end >= span.start > 0 and not span.is_failed for span in spans)
    # The receiver can go on from there, with what the caller sent beside it.
    headers = next(h for h, body in hearing.received if json.loads(body)["subject"] == job_id)
    assert headers["traceparent"] == f"00-{trace_id}-{found['tell job.succeeded'].span_id}-01"
    assert headers["tracestate"] == "them=1"
    for log in ("api.log", "worker.log"):
        lines = (service.data_dir / log).read_text().splitlines()
        assert any(json.loads(line).get("trace_id") == trace_id for line in lines if "{" in line)


def test_a_failure_shows_and_what_is_not_sampled_does_not(
    service: Service, collector: Collector, hearing: Receiver
) -> None:
    unseen, its_trace = submit(service, "b", hearing.url, sampled=False)
    assert service.final(unseen)["status"] == "succeeded"
    lost = service.ready_dataset(b"a,refused\n1,x\n2,y\n")
    trace_id = token_hex(16)
    service.client.post(
        "/v1/jobs",
        json={"dataset_id": lost, "target": "refused"},
        headers={"traceparent": f"00-{trace_id}-{CALLER}-01"},
    )
    until(lambda: "run job" in {span.name for span in collector.spans(trace_id)})
    (run,) = (span for span in collector.spans(trace_id) if span.name == "run job")
    assert run.is_failed
    until(lambda: any(json.loads(body)["subject"] == unseen for _, body in hearing.received))
    assert collector.spans(its_trace) == []


def test_what_few_need_is_not_imported_at_the_start() -> None:
    assert subprocess.run([sys.executable, "-c", UNUSED], check=False).returncode == 0
