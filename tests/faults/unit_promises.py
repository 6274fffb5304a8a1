"""What must hold of jobs that consist of units: each done once, all of them in the result."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from app.db.base import AnyRow
from app.jobs.specification import Specification
from app.jobs.state import Status
from app.jobs.units.plan import TRIAL, Task, plan_units
from tests.faults.evidence import MAX_ATTEMPTS, Evidence

ENDS = {"unit_succeeded", "unit_failed"}


def units_end_once(evidence: Evidence) -> Iterator[str]:
    """No unit is done twice, and in a success each was done or left out with its method."""
    for job in _jobs(evidence):
        events = evidence.events[job.id]
        ends = Counter(event.data["unit"] for event in events if event.kind in ENDS)
        yield from (f"{job.id} ended its unit {u} {n} times" for u, n in ends.items() if n > 1)
        if job.status != Status.SUCCEEDED:
            continue
        missing = set(range(job.n_units)) - ends.keys() - _left_out(_tasks(job), events)
        if missing:
            yield f"{job.id} succeeded without its units {sorted(missing)}"
        if (job.n_units_done, job.progress) != (job.n_units, 1):
            yield f"{job.id} succeeded with {job.n_units_done} of {job.n_units} units"


def units_are_tried_thrice_at_most(evidence: Evidence) -> Iterator[str]:
    """Attempts that were not handed back are counted, and a failed unit has used up all."""
    for job in _jobs(evidence):
        seen = Counter((e.data.get("unit"), e.kind) for e in evidence.events[job.id])
        for unit in range(job.n_units):
            charged = seen[unit, "unit_started"] - seen[unit, "unit_handed_back"]
            if charged > MAX_ATTEMPTS:
                yield f"{job.id} began its unit {unit} {charged} times"
        for event in evidence.events[job.id]:
            lost = seen[event.data.get("unit"), "unit_lease_expired"]
            if event.kind == "unit_failed" and not _is_lost(event.data, lost):
                yield f"{job.id} failed at {event.data} after {lost} lost leases"


def no_unit_is_left_behind(evidence: Evidence) -> Iterator[str]:
    """The rows of units go with the end of their job."""
    for unit in evidence.units:
        if evidence.jobs[unit.job_id].status not in (Status.QUEUED, Status.RUNNING):
            yield f"{unit.job_id} has ended and left its unit {unit.number} {unit.status}"


def results_are_whole(evidence: Evidence) -> Iterator[str]:
    """Every method has its curves, every sample its choice."""
    for job in _jobs(evidence):
        if job.id not in evidence.results:
            continue
        document, asked = evidence.results[job.id].document, job.specification
        if asked["compare"] and not _is_compared(document["comparison"], asked, _tasks(job)):
            yield f"{job.id} has an incomplete comparison: {document['comparison']}"
        if asked["stability"] and not _is_stable(document["stability"], asked["stability"]):
            yield f"{job.id} has an incomplete stability: {document['stability']}"


def comparable(document: dict[str, Any]) -> dict[str, Any] | None:
    """A result without times; None if a method is missing because it lost its workers."""
    comparison = document.get("comparison")
    if comparison is None:
        return document
    if any(method["error"] for method in comparison["methods"]):
        return None
    methods = [{**method, "seconds": None} for method in comparison["methods"]]
    return {**document, "comparison": {**comparison, "methods": methods}}


def n_lost_leases(events: Sequence[AnyRow]) -> int:
    """Leases lost by the job itself, or by the unit that failed it."""
    failed = [event.data["unit"] for event in events if event.kind == "unit_failed"]
    lost = [e for e in events if e.kind in {"lease_expired", "unit_lease_expired"}]
    return len([e for e in lost if e.kind == "lease_expired" or e.data["unit"] in failed])


def _jobs(evidence: Evidence) -> Iterator[AnyRow]:
    return (job for job in evidence.jobs.values() if job.n_units)


def _tasks(job: AnyRow) -> list[Task]:
    return plan_units(Specification.model_validate(job.specification))


def _left_out(tasks: Sequence[Task], events: Sequence[AnyRow]) -> set[int]:
    """Later trials of methods that failed."""
    failed = [event.data for event in events if event.kind == "unit_failed"]
    return {
        number
        for number, task in enumerate(tasks)
        for at in failed
        if task["kind"] == TRIAL and task["method"] == at["method"] and number > at["unit"]
    }


def _is_lost(failure: dict[str, Any], n_lost: int) -> bool:
    return failure["code"] == "worker_lost" and n_lost == MAX_ATTEMPTS - 1


def _is_compared(comparison: dict[str, Any], asked: dict[str, Any], tasks: list[Task]) -> bool:
    labels = list(dict.fromkeys(task["method"] for task in tasks if task["kind"] == TRIAL))
    curves = [curve for method in comparison["methods"] for curve in method["curves"]]
    whole = (len(m["curves"]) >= 2 or m["error"] for m in comparison["methods"])
    return (
        [method["label"] for method in comparison["methods"]] == labels
        and comparison["n_splits"] == asked["compare"]["n_splits"]
        and all(whole)
        and all(len(curve["mean"]) == len(curve["se"]) == asked["k"] for curve in curves)
    )


def _is_stable(stability: dict[str, Any], asked: dict[str, Any]) -> bool:
    """Each sample chose k features: the shares are of all samples, and add up to the size."""
    n_samples = asked["n_samples"]
    chosen = [n_samples * feature["frequency"] for feature in stability["features"]]
    return (
        bool(stability["n_samples"] == n_samples)
        and all(math.isclose(n, round(n), abs_tol=1e-6) for n in chosen)
        and math.isclose(sum(chosen), n_samples * stability["mean_size"])
    )
