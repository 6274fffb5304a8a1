"""Reads what the clients saw and what the database holds, and names every broken promise."""

from __future__ import annotations

import hashlib
import io
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from app.datasets.keys import COLUMNS, RAW, key_of
from app.jobs.state import FINAL, Status
from tests.faults.evidence import MAX_ATTEMPTS, Evidence
from tests.faults.unit_promises import (
    comparable,
    n_lost_leases,
    no_unit_is_left_behind,
    results_are_whole,
    units_are_tried_thrice_at_most,
    units_end_once,
)

FINAL_EVENTS = {str(status) for status in FINAL}


def violations(evidence: Evidence) -> list[str]:
    """One sentence for each promise that was broken."""
    checks: tuple[Callable[[Evidence], Iterable[str]], ...] = (
        _answers_are_documented,
        _accepted_jobs_are_final,
        _jobs_end_once,
        _results_belong_to_successes,
        _failures_have_a_cause,
        _cancels_are_kept,
        _final_answers_never_change,
        _one_key_is_one_job,
        _replays_are_equal,
        _uploads_are_read,
        _streams_have_no_gaps,
        units_end_once,
        units_are_tried_thrice_at_most,
        no_unit_is_left_behind,
        results_are_whole,
    )
    return [sentence for check in checks for sentence in check(evidence)]


def _answers_are_documented(evidence: Evidence) -> Iterator[str]:
    return (line["breach"] for line in evidence.history if "breach" in line)


def _accepted_jobs_are_final(evidence: Evidence) -> Iterator[str]:
    accepted = {line["id"] for line in evidence.lines("submitJob") if line["status"] == 202}
    for job_id in accepted - evidence.jobs.keys():
        yield f"{job_id} was accepted and is gone"
    for job in evidence.jobs.values():
        if job.status not in FINAL:
            yield f"{job.id} is still {job.status}"


def _jobs_end_once(evidence: Evidence) -> Iterator[str]:
    for job in evidence.jobs.values():
        events = evidence.events[job.id]
        if [event.seq for event in events] != list(range(1, job.n_events + 1)):
            yield f"{job.id} has events with gaps"
        ends = [event.kind for event in events if event.kind in FINAL_EVENTS]
        if job.status in FINAL and (ends != [job.status] or events[-1].kind != job.status):
            yield f"{job.id} is {job.status} and ended as {ends}"


def _results_belong_to_successes(evidence: Evidence) -> Iterator[str]:
    for job in evidence.jobs.values():
        if (job.id in evidence.results) != (job.status == Status.SUCCEEDED):
            yield f"{job.id} is {job.status}, with a result: {job.id in evidence.results}"
    for line in evidence.lines("getResult"):
        if "result" in line and evidence.jobs[line["job_id"]].status != Status.SUCCEEDED:
            yield f"{line['job_id']} showed a result and is not succeeded"


def _failures_have_a_cause(evidence: Evidence) -> Iterator[str]:
    for job in evidence.jobs.values():
        lost = n_lost_leases(evidence.events[job.id])
        code = (job.error or {}).get("code")
        if job.status == Status.FAILED and (code != "worker_lost" or lost < MAX_ATTEMPTS - 1):
            yield f"{job.id} failed with {code} after {lost} lost leases"
        if job.status == Status.EXPIRED and job.finished_at < job.deadline_at:
            yield f"{job.id} expired before its deadline"
        if not 0 <= job.attempt <= MAX_ATTEMPTS:
            yield f"{job.id} was attempted {job.attempt} times"


def _cancels_are_kept(evidence: Evidence) -> Iterator[str]:
    for line in evidence.lines("cancelJob"):
        job = evidence.jobs[line["job_id"]]
        if line["status"] == 202 and job.status != Status.CANCELLED:
            yield f"{job.id} was to be cancelled and is {job.status}"
        if line["status"] == 200 and line["state"] != job.status:
            yield f"{job.id} was {line['state']} when cancelled and is {job.status}"


def _final_answers_never_change(evidence: Evidence) -> Iterator[str]:
    newest: dict[tuple[int, str], int] = {}
    for line in evidence.history:
        job_id = str(line.get("job_id") or line.get("id"))
        if line["operation"] not in {"getJob", "submitJob", "cancelJob"} or "version" not in line:
            continue
        state, job = line.get("state"), evidence.jobs.get(job_id)
        if job is not None and state in FINAL_EVENTS and state != job.status:
            yield f"{job_id} was shown as {state} and is {job.status}"
        reader = (line["client"], job_id)
        if line["version"] < newest.get(reader, 0):
            yield f"{job_id} went back from version {newest[reader]} to {line['version']}"
        newest[reader] = line["version"]


def _one_key_is_one_job(evidence: Evidence) -> Iterator[str]:
    by_key: defaultdict[str, set[str]] = defaultdict(set)
    for line in evidence.lines("submitJob"):
        if line["cheat"]:
            if line["code"] != "idempotency_key_reused":
                yield f"another body under the key {line['key']} was answered {line['status']}"
        elif line["status"] == 202:
            by_key[line["key"]].add(line["id"])
        else:
            yield f"a good submission was answered {line['status']} {line.get('code')}"
    for key, job_ids in by_key.items():
        if len(job_ids) > 1:
            yield f"the key {key} made {len(job_ids)} jobs"
    n_keys = len({job.idempotency_key for job in evidence.jobs.values()})
    if n_keys != len(evidence.jobs):
        yield f"{len(evidence.jobs)} jobs were made with {n_keys} keys"


def _replays_are_equal(evidence: Evidence) -> Iterator[str]:
    seen: defaultdict[str, set[str]] = defaultdict(set)
    for job_id, result in evidence.results.items():
        asked = json.dumps(evidence.jobs[job_id].specification, sort_keys=True)
        if (document := comparable(result.document)) is not None:
            seen[asked].add(_fingerprint(document, result.arrays))
    for asked, found in seen.items():
        if len(found) > 1:
            yield f"{len(found)} different results of {asked}"


def _fingerprint(document: dict[str, Any], arrays: bytes | None) -> str:
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode())
    if arrays is not None:
        with np.load(io.BytesIO(arrays)) as packed:  # the file itself also holds the time of day
            for name in sorted(packed):
                digest.update(name.encode() + packed[name].tobytes())
    return digest.hexdigest()


def _uploads_are_read(evidence: Evidence) -> Iterator[str]:
    by_content: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for line in evidence.lines("uploadDataset"):
        if line["status"] not in {200, 201}:
            yield f"an upload was answered {line['status']} {line.get('code')}"
            continue
        wanted = "ready" if line["kind"] == "good" else "rejected"
        dataset = evidence.datasets.get(line["id"])
        by_content[line["digest"], dataset.tenant if dataset else ""].add(line["id"])
        if dataset is None or dataset.status != wanted:
            yield f"{line['id']} is {dataset and (dataset.status, dataset.reason)}, not {wanted}"
    yield from (f"{d} datasets of the same bytes" for d in by_content.values() if len(d) > 1)
    for dataset in evidence.datasets.values():
        for name in (RAW, COLUMNS) if dataset.status == "ready" else (RAW,):
            if key_of(dataset.tenant, dataset.id, name) not in evidence.kept:
                yield f"{dataset.id} has lost its file {name}"


def _streams_have_no_gaps(evidence: Evidence) -> Iterator[str]:
    for line in evidence.history:
        numbers = line.get("numbers", [])
        if numbers != list(range(1, len(numbers) + 1)):
            yield f"{line['job_id']} streamed its events as {numbers}"
