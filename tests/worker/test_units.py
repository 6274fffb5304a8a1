"""Workers that share one job, and what happens to it when they are killed."""

from __future__ import annotations

from typing import Any

from tests.app.running import Service, running_worker
from tests.worker.test_faults import kill_all

ROWS = [f"{i % 3},{i % 5},{i % 2},{'xyz'[i % 3]}" for i in range(60)]
CSV = "\n".join(["a,b,c,y", *ROWS]).encode()
METHODS = [{"name": "rjmi"}, {"name": "mrmr"}, {"name": "globalfs"}]
JOB: dict[str, Any] = {
    "k": 2,
    "compare": {"methods": METHODS, "n_splits": 4},
    "stability": {"n_samples": 6},
}
N_UNITS = 1 + 3 * 4 + 6 + 1


def test_two_workers_share_a_job_and_one_is_killed(service: Service) -> None:
    with running_worker(service, "left") as left, running_worker(service, "right"):
        dataset_id = service.ready_dataset(CSV)
        job_id = service.submit(dataset_id, **JOB)
        service.until(f"/v1/jobs/{job_id}", lambda job: job["units"]["done"] >= 5)
        kill_all(left)
        job = service.final(job_id)
        assert (job["status"], job["attempts"]) == ("succeeded", 1)
        assert (job["units"], job["progress"]) == ({"total": N_UNITS, "done": N_UNITS}, 1)
        assert all(b"unit started" in log_of(service, name) for name in ("left", "right"))
        again = service.submit(dataset_id, **JOB)
        service.final(again)
        check_cancel(service, dataset_id)
        check_keep(service, dataset_id)
    prepared = [line for line in log_of(service, "right").splitlines() if b"table prepared" in line]
    assert 0 < sum(again.encode() in line for line in prepared) < N_UNITS / 4
    result, replay = result_of(service, job_id), result_of(service, again)
    assert result == replay  # by one worker or by two of which one was killed
    check_comparison(result["comparison"])
    assert result["stability"]["index"] == 1
    kinds = [event["kind"] for event in events_of(service, job_id)]
    assert kinds.count("succeeded") == 1
    # Those of the refused method end with the first; the summary is a unit too.
    assert kinds.count("unit_succeeded") == N_UNITS - 4
    assert kinds.count("unit_failed") == 1


def check_comparison(comparison: dict[str, Any]) -> None:
    rjmi, mrmr, globalfs = comparison["methods"]
    assert globalfs["error"]["message"] == "GlobalFS is refused"
    assert (globalfs["rank"], globalfs["curves"]) == (None, [])
    assert rjmi["rank"] == mrmr["rank"] == 1  # both take the first columns
    classifiers = dict.fromkeys(curve["classifier"] for curve in mrmr["curves"])
    assert list(classifiers) == ["nearest_neighbour", "naive_bayes"]
    assert len(mrmr["curves"][0]["mean"]) == comparison["k"] == 2
    (pair,) = comparison["pairs"]
    assert (pair["difference"], pair["p_value"]) == (0, None)


def check_cancel(service: Service, dataset_id: str) -> None:
    job_id = service.submit(dataset_id, **{**JOB, "stability": {"n_samples": 900}})
    path = f"/v1/jobs/{job_id}"
    service.until(path, lambda job: job["units"]["done"] >= 2)
    cancelled = service.client.post(f"{path}/cancel")
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    assert service.client.get(f"{path}/result").status_code == 409
    other = service.submit(dataset_id)
    assert service.final(other)["status"] == "succeeded"
    assert service.client.get(path).json() == cancelled.json()


def check_keep(service: Service, dataset_id: str) -> None:
    """Two splits of the comparison are done, or more, and a few of many samples may be."""
    job_id = service.submit(dataset_id, **{**JOB, "stability": {"n_samples": 900}})
    path = f"/v1/jobs/{job_id}"
    service.until(path, lambda job: job["units"]["done"] >= 1 + 2 * 3)
    asked = service.client.post(f"{path}/cancel", params={"keep": True})
    assert (asked.status_code, asked.json()["status"]) == (202, "running")
    job = service.final(job_id)
    assert (job["status"], job["partial"]) == ("succeeded", True)
    result = result_of(service, job_id)
    (missing, *_) = reversed(result["missing"])
    assert (missing["part"], missing["n_asked"]) == ("stability", 900)
    assert missing["n_done"] < 900
    assert result["comparison"]["n_splits"] >= 1
    assert [feature["name"] for feature in result["selected"]] == ["a", "b"]
    again = service.client.post(f"{path}/cancel", params={"keep": True})
    assert (again.status_code, again.json()) == (200, job)


def result_of(service: Service, job_id: str) -> dict[str, Any]:
    """The result without what no two runs have in common: times."""
    result: dict[str, Any] = service.client.get(f"/v1/jobs/{job_id}/result").json()
    for method in result["comparison"]["methods"]:
        assert (method.pop("seconds") is None) == (method["error"] is not None)
    return result


def events_of(service: Service, job_id: str) -> list[dict[str, Any]]:
    params = {"page_size": 1000}
    events: list[dict[str, Any]] = service.client.get(
        f"/v1/jobs/{job_id}/events", params=params
    ).json()["items"]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    return events


def log_of(service: Service, name: str) -> bytes:
    return (service.data_dir / f"{name}.log").read_bytes()
