"""Clients that upload, submit, repeat, watch and cancel; what they choose follows from the seed."""

from __future__ import annotations

import hashlib
import json
import random
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pyarrow as pa

from app.jobs.state import Status
from tests.faults.contract import breach
from tests.faults.history import History

N_TABLES = 4
NOISY_ROWS = 150_000
# Until the service has answered: what a client should do that means to be served.
RETRIED = {429, 503, 507}
RETRY_SECONDS = 0.3
# Nobody answers while the API starts: each refusal doubles the wait, as clients do.
MAX_RETRY_SECONDS = 3.0
WATCH_SECONDS = 20.0
STREAM_SECONDS = 20.0  # the API says something every 15 s, if only that it is there
POLL, WAIT, STREAM = range(3)
LONG = {"name": "gsm_cpd", "ranks": [60], "n_models": 50, "n_init": 100, "tol": 0.0}
SMALL = {"name": "gsm_cpd", "ranks": [4], "n_models": 2}
COMPARE = {"methods": [{"name": "mrmr"}, SMALL], "n_splits": 2}


def table(seed: int, number: int) -> bytes:
    """A small CSV with a label that two of its columns tell something about."""
    rng = random.Random(f"table {seed} {number}")
    lines = ["a,b,c,d,e,label"]
    for _ in range(300):
        label = rng.randrange(3)
        cells = [(label + rng.randrange(2)) % 3, (label * rng.randrange(2)) % 3]
        cells += [rng.randrange(4) for _ in range(3)]
        lines.append(",".join(map(str, [*cells, label])))
    return "\n".join(lines).encode()


def noise(number: int) -> bytes:
    """A table of which a reader would write more than it may: nothing in it can be packed."""
    rng = np.random.default_rng(number)
    batch = pa.record_batch({name: rng.random(NOISY_ROWS) for name in ("a", "label")})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def specification(rng: random.Random) -> dict[str, Any]:
    """One of a few dozen requests, so that many are made again."""
    kinds = ["mrmr", "jmim", "fit", "long", "compare", "stability"]
    kind = rng.choices(kinds, [4, 2, 4, 1, 2, 2])[0]
    order: dict[str, Any] = {"target": "label", "k": rng.randint(1, 3), "seed": rng.randrange(2)}
    if kind == "long":
        return {**order, "method": LONG, "deadline_seconds": rng.randint(2, 6)}
    if kind == "fit":
        return {**order, "method": SMALL}
    if kind == "compare":
        return {**order, "method": {"name": "jmim"}, "compare": COMPARE}
    if kind == "stability":
        return {**order, "method": {"name": "mrmr"}, "stability": {"n_samples": 4}}
    return {**order, "method": {"name": kind}}


class Client(threading.Thread):
    """One caller; goes on until told to stop."""

    def __init__(self, number: int, seed: int, url: str, key: str, history: History) -> None:
        super().__init__(name=f"client{number}", daemon=True)
        self.number = number
        self.over = threading.Event()
        self._seed = seed
        self._n_refused = 0
        self._history = history
        self._http = httpx.Client(
            base_url=url, timeout=10, headers={"authorization": f"Bearer {key}"}
        )

    def run(self) -> None:
        """Job after job."""
        n_jobs = 0
        while not self.over.is_set():
            n_jobs += 1
            self._one_job(random.Random(f"client {self._seed} {self.number} {n_jobs}"), n_jobs)
        self._http.close()

    def _one_job(self, rng: random.Random, n_jobs: int) -> None:
        dataset_id = self._upload(table(self._seed, rng.randrange(N_TABLES)), "good")
        if dataset_id is None:
            return
        if rng.random() < 0.1:
            self._upload(b"only one column\n" + str(rng.random()).encode(), "bad")
        if rng.random() < 0.1:
            self._upload(noise(rng.randrange(1000)), "bad", "application/vnd.apache.arrow.stream")
        order = {**specification(rng), "dataset_id": dataset_id}
        key = f"{self._seed}-{self.number}-{n_jobs}"
        habits = {name: rng.random() for name in ("replay", "cheat", "cancel", "watch", "again")}
        pause = rng.uniform(0, 2)
        job_id = self._submit(order, key)
        if job_id is None:
            return
        if habits["replay"] < 0.3:
            self._submit(order, key)
        if habits["cheat"] < 0.1:
            self._submit({**order, "k": 4}, key, cheat=True)
        if habits["cancel"] < 0.25:
            self.over.wait(pause)
            self._cancel(job_id)
        if habits["watch"] < 0.8:
            self._watch(job_id, n_jobs % 3)
        if habits["again"] < 0.2:
            self._submit(order, key)

    def _upload(self, content: bytes, kind: str, media_type: str = "text/csv") -> str | None:
        digest = hashlib.sha256(content).hexdigest()
        headers = {"content-type": media_type}
        answer = self._insist(
            "uploadDataset",
            "POST",
            "/v1/datasets",
            {"digest": digest, "kind": kind},
            content=content,
            headers=headers,
        )
        return answer.json()["id"] if answer is not None and answer.is_success else None

    def _submit(self, order: dict[str, Any], key: str, *, cheat: bool = False) -> str | None:
        note = {"key": key, "order": json.dumps(order, sort_keys=True), "cheat": cheat}
        headers = {"idempotency-key": key}
        answer = self._insist("submitJob", "POST", "/v1/jobs", note, json=order, headers=headers)
        return answer.json()["id"] if answer is not None and answer.is_success else None

    def _cancel(self, job_id: str) -> None:
        self._insist("cancelJob", "POST", f"/v1/jobs/{job_id}/cancel", {"job_id": job_id})

    def _watch(self, job_id: str, manner: int) -> None:
        """Poll, wait or stream until the job is final, then read what it found."""
        end = time.monotonic() + WATCH_SECONDS
        tag = '"0"'
        while time.monotonic() < end and not self.over.is_set():
            if manner == STREAM:
                self._stream(job_id)
            headers = {"if-none-match": tag, "prefer": "wait=5"} if manner == WAIT else {}
            note = {"job_id": job_id}
            answer = self._call("getJob", "GET", f"/v1/jobs/{job_id}", note, headers=headers)
            if answer is not None and answer.status_code == 200:
                tag = answer.headers["etag"]
                if Status(answer.json()["status"]).is_final:
                    break
            self._pause()
        self._call("getResult", "GET", f"/v1/jobs/{job_id}/result", {"job_id": job_id})

    def _stream(self, job_id: str) -> None:
        """Listen to the events until the stream ends, by itself or by a fault."""
        headers = {"accept": "text/event-stream"}
        numbers: list[int] = []
        try:
            path, wait = f"/v1/jobs/{job_id}/events", STREAM_SECONDS
            with self._http.stream("GET", path, headers=headers, timeout=wait) as answer:
                numbers.extend(_event_numbers(answer, self.over))
        except httpx.HTTPError as error:
            self._note("streamEvents", {"job_id": job_id}, error=type(error).__name__)
        self._note("streamEvents", {"job_id": job_id}, numbers=numbers)

    def _insist(
        self, operation: str, method: str, path: str, note: dict[str, Any], **request: Any
    ) -> httpx.Response | None:
        """Ask again until there is an answer, or the time is over."""
        while True:
            answer = self._call(operation, method, path, note, **request)
            if answer is not None and answer.status_code not in RETRIED:
                return answer
            if self._pause():
                return None

    def _pause(self) -> bool:
        """Wait before the next try, longer after each that nobody answered; True at the end."""
        doubled = RETRY_SECONDS * 2.0 ** min(self._n_refused, 8)
        return self.over.wait(min(doubled, MAX_RETRY_SECONDS))

    def _call(
        self, operation: str, method: str, path: str, note: dict[str, Any], **request: Any
    ) -> httpx.Response | None:
        """One request, recorded; None when it was not answered."""
        try:
            answer = self._http.request(method, path, **request)
        except httpx.HTTPError as error:
            self._n_refused += 1
            self._note(operation, note, error=type(error).__name__)
            return None
        self._n_refused = 0
        self._note(operation, note, **_described(operation, answer))
        return answer

    def _note(self, operation: str, note: dict[str, Any], **found: Any) -> None:
        self._history.record(client=self.number, operation=operation, **note, **found)


def _event_numbers(answer: httpx.Response, over: threading.Event) -> Iterator[int]:
    for line in answer.iter_lines():
        if over.is_set():
            return
        if line.startswith("id: "):
            yield int(line.removeprefix("id: "))


def _described(operation: str, answer: httpx.Response) -> dict[str, Any]:
    found: dict[str, Any] = {"status": answer.status_code}
    if wrong := breach(operation, answer):
        found["breach"] = wrong
    if operation == "getResult" and answer.status_code == 200:
        found["result"] = hashlib.sha256(answer.content).hexdigest()
    elif answer.headers.get("content-type", "").endswith("json"):
        document = answer.json()
        if answer.is_success:
            found |= {"id": document["id"], "state": document["status"]}
        else:
            found["code"] = document["code"]
    tag = answer.headers.get("etag")
    if tag and operation != "getResult":
        found["version"] = int(tag.strip('"'))
    return found
