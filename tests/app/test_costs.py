"""What a check says that a job will take, before and after a worker has measured itself."""

from __future__ import annotations

import re
from typing import Any

import pytest
from sqlalchemy import delete

from app.capacity import Capacity
from app.jobs import speeds
from app.jobs.costs import estimate, forecast, selection_seconds
from app.jobs.memory import needed_memory
from app.jobs.specification import Specification
from app.jobs.speeds import WorkerSpeed
from app.settings import Settings
from core.cost.work import KINDS, USUAL, Speed
from tests.app.running import Service
from worker import calibration, kernels


def check(service: Service, **fields: Any) -> Any:
    answer = service.client.post("/v1/jobs/check", json={"target": "y", **fields})
    assert answer.status_code == 200
    return answer.json()


def test_an_estimate_is_that_of_a_usual_core_until_a_worker_has_measured_itself(
    service: Service,
) -> None:
    dataset_id = service.ready_dataset()
    with service.keys() as session:
        session.execute(delete(WorkerSpeed))
        session.commit()
    before = check(service, dataset_id=dataset_id)["estimate"]
    assert before["engine"] == "memory"
    assert list(before["phase_seconds"]) == ["encode", "rank", "fit", "select"]
    assert before["seconds"] == pytest.approx(sum(before["phase_seconds"].values()))
    assert not before["measured"]
    assert "usual core" in before["why"]
    assert "8.0 GiB" in before["why"]
    slower = {kind: 3 * nanoseconds for kind, nanoseconds in USUAL.items()}
    for speed in (Speed(), Speed(slower)):  # the second takes the place of the first
        with service.keys() as session:
            speeds.keep(session, speed)
    after = check(service, dataset_id=dataset_id)["estimate"]
    assert after["measured"]
    assert "measured itself last, with 1 thread." in after["why"]
    assert after["seconds"] == pytest.approx(3 * before["seconds"])
    assert after["memory_bytes"] == before["memory_bytes"]
    with service.keys() as session:  # by an engine that knew other kinds of work
        speeds.keep(session, Speed({"steps": 1.0}))
    assert check(service, dataset_id=dataset_id)["estimate"] == before


def test_more_work_is_said_to_take_longer(service: Service) -> None:
    small = service.ready_dataset()
    rows = "".join(f"{i},{i % 97 / 7},{i % 3},{i % 2}\n" for i in range(3000))
    large = service.ready_dataset(f"a,b,slow,y\n{rows}".encode())
    compare = {"methods": [{"name": "gsm_cpd"}, {"name": "mrmr"}]}
    found = [
        check(service, dataset_id=small)["estimate"],
        check(service, dataset_id=large)["estimate"],
        check(service, dataset_id=large, evaluate={})["estimate"],
        check(service, dataset_id=large, evaluate={}, compare=compare, stability={})["estimate"],
    ]
    assert [estimate["seconds"] for estimate in found] == sorted(e["seconds"] for e in found)
    assert found[0]["memory_bytes"] < found[1]["memory_bytes"]
    assert list(found[-1]["phase_seconds"])[4:] == ["evaluate", "compare", "resample"]


WIDE = [{"name": name, "kind": "integer", "levels": 3} for name in (*map(str, range(1000)), "y")]


@pytest.mark.parametrize(
    ("n_rows", "asked", "engine", "why"),
    [
        (1000, "auto", "memory", "so that one worker holds it in memory"),
        (1000, "memory", "memory", "Memory was asked for"),
        (1000, "file", "file", "Files were asked for, and hold its codes; .* stays in the worker"),
        (1000, "dask", "memory", "cluster was asked for, but .* this size stays in the worker"),
        (10**7, "file", "file", "Files were asked for, and hold its table"),
        (10**7, "dask", "dask", "The cluster was asked for, and holds its table"),
        (10**7, "auto", "dask", "Memory does not hold its table, which lies on the cluster"),
    ],
)
def test_why_says_what_was_asked_for_and_what_is_so(
    service: Service, n_rows: int, asked: str, engine: str, why: str
) -> None:
    specification = Specification.model_validate(
        {"dataset_id": f"ds_{0:032}", "target": "y", "engine": asked}
    )
    with service.keys() as session:
        told = estimate(session, specification, n_rows, WIDE, Capacity(8 << 30, has_cluster=True))
    assert told.engine == engine
    assert re.search(why, told.why)
    assert re.search(r"\d\.\d of the 8\.0 GiB that a worker has", told.why)


def test_seconds_are_those_of_the_engine(service: Service) -> None:
    for n_rows in (1000, 10**7):
        found = []
        for engine in ("memory", "file", "dask"):
            fields = {"dataset_id": f"ds_{0:032}", "target": "y", "engine": engine}
            specification = Specification.model_validate(fields)
            capacity = Capacity(100 << 30, has_cluster=True)
            with service.keys() as session:
                found.append(estimate(session, specification, n_rows, WIDE, capacity).seconds)
        assert found == sorted(found)
        assert len(set(found)) == (1 if n_rows == 1000 else 3)


def test_what_cannot_run_has_no_estimate(service: Service) -> None:
    refused = check(service, dataset_id=service.ready_dataset(), k=99)
    assert (refused["valid"], refused["estimate"]) == (False, None)


def test_a_worker_measures_itself_once_its_kernels_are_compiled(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(
        data_dir=service.data_dir,
        database_url=service.env["PITH_DATABASE_URL"],
        worker_threads=3,
    )
    kernels.calibrate(settings)
    with service.keys() as session:
        speed = speeds.newest(session)
    assert speed is not None
    assert speed.n_threads == 3
    assert set(speed.nanoseconds) == set(KINDS)
    assert min(speed.nanoseconds.values()) > 0
    monkeypatch.setattr(calibration, "measure", lambda: USUAL)
    nowhere = settings.model_copy(update={"database_url": f"sqlite:///{service.data_dir}/no/db"})
    kernels.calibrate(nowhere)  # no database is no reason to fail


def takes(profile: list[dict[str, Any]], **fields: Any) -> tuple[int, float, float]:
    """Bytes, and seconds with experiments and without."""
    document = {"dataset_id": f"ds_{0:032}", "target": "y", "k": 5, **fields}
    asked = Specification.model_validate(document)
    seconds = [
        sum(of(asked, 10**5, profile, Speed(), engine="memory").values())
        for of in (forecast, selection_seconds)
    ]
    return needed_memory(asked, 10**5, profile), seconds[0], seconds[1]


def test_columns_that_nobody_needs_are_not_charged() -> None:
    wanted = {"candidates": [str(n) for n in range(90)], "include": ["95"]}
    few = [column for column in WIDE if column["name"] in {*wanted["candidates"], "95", "y"}]
    rival: dict[str, Any] = {"method": {"name": "mrmr"}}
    beside = {"name": "jmi"}
    both = {"compare": {"methods": [beside, {"name": "cmim"}]}, "stability": {}}
    for asked in (rival, {**rival, **both}):
        found = takes(WIDE, **asked, columns=wanted)
        assert found == takes(few, **asked)
        for less, more in zip(found, takes(WIDE, **asked), strict=True):
            assert less < more
    of_all: dict[str, Any] = {"compare": {"methods": [beside, {"name": "gsm_cpd"}]}}
    for asked in ({}, {**rival, **of_all}):
        narrow, wide = (takes(WIDE, **asked, columns=c) for c in (wanted, {}))
        assert narrow[0] == wide[0]


def test_of_a_time_those_parts_are_charged_that_are_needed() -> None:
    parts = ["elapsed", "hour", "weekday", "month"]
    made = {"name": "made", "kind": "time", "levels": 10**5, "parts": parts}
    profile, rival = [*WIDE[-100:], made], {"name": "mrmr"}
    hour, some = (
        takes(profile, method=rival, columns={"candidates": ["950", *names]}, k=1)[0]
        for names in (["made · hour"], ["made"])
    )
    assert hour < some < takes(profile, method=rival)[0]
