"""The checker sees it when a job of units breaks a promise."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from app.jobs.specification import Specification
from tests.faults import unit_promises as promises
from tests.faults.evidence import Evidence

SPECIFICATION = Specification.model_validate(
    {
        "dataset_id": "ds_" + "0" * 32,
        "target": "y",
        "k": 1,
        "compare": {"methods": [{"name": "mrmr"}, {"name": "jmim"}], "n_splits": 2},
        "stability": {"n_samples": 2},
    }
).model_dump()
N_UNITS = 1 + 2 * 2 + 2 + 1
CURVES = [{"mean": [0.5], "se": [0.1]}] * 2
DOCUMENT: dict[str, Any] = {
    "comparison": {
        "n_splits": 2,
        "methods": [{"label": m, "error": None, "curves": CURVES} for m in ("mrmr", "jmim")],
    },
    "stability": {
        "n_samples": 2,
        "mean_size": 1.0,
        "features": [{"frequency": 0.5}, {"frequency": 0.5}],
    },
}


def event(kind: str, unit: int, **data: Any) -> Any:
    return SimpleNamespace(kind=kind, data={"unit": unit, **data})


def evidence(status: str = "succeeded", document: dict[str, Any] = DOCUMENT) -> Evidence:
    job: Any = SimpleNamespace(
        id="job",
        status=status,
        specification=SPECIFICATION,
        n_units=N_UNITS,
        n_units_done=N_UNITS,
        progress=1.0,
    )
    kinds = ("unit_started", "unit_succeeded")
    events = [event(kind, unit) for unit in range(N_UNITS) for kind in kinds]
    results: dict[str, Any] = {"job": SimpleNamespace(document=document)}
    return Evidence([], {"job": job}, {"job": events}, results, {}, [], set())


def found(evidence: Evidence) -> list[str]:
    checks = (
        promises.units_end_once,
        promises.units_are_tried_thrice_at_most,
        promises.no_unit_is_left_behind,
        promises.results_are_whole,
    )
    return [sentence for check in checks for sentence in check(evidence)]


def test_all_is_well() -> None:
    assert found(evidence()) == []


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ([event("unit_succeeded", 3)], "job ended its unit 3 2 times"),
        ([event("unit_started", 2)] * 3, "job began its unit 2 4 times"),
        (
            [event("unit_failed", 9, method="mrmr", code="worker_lost")],
            "after 0 lost leases",
        ),
    ],
)
def test_events_that_must_not_be(more: list[Any], sentence: str) -> None:
    seen = evidence()
    seen.events["job"].extend(more)
    assert any(sentence in told for told in found(seen))


def test_a_unit_that_nobody_did() -> None:
    seen = evidence()
    del seen.events["job"][-4:-2]
    assert found(seen) == [f"job succeeded without its units [{N_UNITS - 2}]"]


def test_a_unit_left_behind() -> None:
    unit: Any = SimpleNamespace(job_id="job", number=1, status="queued")
    assert found(replace(evidence(), units=[unit])) == ["job has ended and left its unit 1 queued"]


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("comparison", {"n_splits": 1}),
        ("comparison", {"methods": DOCUMENT["comparison"]["methods"][:1]}),
        ("stability", {"n_samples": 1}),
        ("stability", {"features": [{"frequency": 0.5}]}),
    ],
)
def test_a_result_that_is_not_whole(part: str, change: dict[str, Any]) -> None:
    document = {**DOCUMENT, part: {**DOCUMENT[part], **change}}
    (told,) = found(evidence(document=document))
    assert f"incomplete {part}" in told


def test_replays_are_compared_without_times() -> None:
    first, second = (
        {"comparison": {"methods": [{"error": None, "seconds": s}]}, "selected": []} for s in (1, 2)
    )
    assert promises.comparable(first) == promises.comparable(second) is not None
    lost = {"comparison": {"methods": [{"error": {"code": "worker_lost"}, "seconds": None}]}}
    assert promises.comparable(lost) is None
