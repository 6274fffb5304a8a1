"""Callers at work: each submits a job, polls it until it is final, reads the result, and again."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np

POLL_SECONDS = 0.2
LIVE = {"queued", "running"}
TABLE = "a,b,c,y\n" + "1,2,0,3\n2,1,1,4\n1,1,0,4\n2,2,1,3\n" * 50


@dataclass
class Tally:
    """How long every call took, and what went wrong."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)
    n_jobs: int = 0
    elapsed: float = 0.0

    @property
    def n_requests(self) -> int:
        """Requests that were answered."""
        return sum(map(len, self.seconds.values()))

    def quantiles(self, call: str) -> tuple[float, float]:
        """Median and 99th percentile, in milliseconds."""
        median, high = 1000 * np.quantile(self.seconds[call], [0.5, 0.99])
        return float(median), float(high)


class Caller:
    """One client with its connection."""

    def __init__(self, http: httpx.AsyncClient, tally: Tally, order: dict[str, Any]) -> None:
        self._http = http
        self._tally = tally
        self._order = order

    async def work(self, until: float) -> None:
        """Job after job; the last is followed to its end."""
        while time.monotonic() < until:
            try:
                await self._one_job()
            except httpx.HTTPError as error:
                self._tally.errors[type(error).__name__] += 1

    async def _one_job(self) -> None:
        job = await self._call("submit", "POST", "/v1/jobs", 202, json=self._order)
        path = f"/v1/jobs/{job.json()['id']}"
        status, tag = "queued", job.headers["etag"]
        while status in LIVE:
            await asyncio.sleep(POLL_SECONDS)
            known = {"if-none-match": tag}
            answer = await self._call("poll", "GET", path, 200, 304, headers=known)
            if answer.status_code == 200:
                status, tag = answer.json()["status"], answer.headers["etag"]
        if status == "succeeded":
            await self._call("result", "GET", f"{path}/result", 200)
            self._tally.n_jobs += 1
        else:
            self._tally.errors[f"a job {status}"] += 1

    async def _call(
        self, call: str, method: str, path: str, *expected: int, **request: Any
    ) -> httpx.Response:
        started = time.perf_counter()
        answer = await self._http.request(method, path, **request)
        self._tally.seconds[call].append(time.perf_counter() - started)
        if answer.status_code not in expected:
            self._tally.errors[f"{call} answered {answer.status_code}"] += 1
            answer.raise_for_status()
        return answer


async def call_for(
    url: str, seconds: float, n_callers: int, headers: dict[str, str] | None = None
) -> Tally:
    """Let the callers work for some seconds, after one upload."""
    tally = Tally()
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits, headers=headers) as http:
        csv = {"content-type": "text/csv"}
        uploaded = await http.post("/v1/datasets", content=TABLE, headers=csv)
        dataset_id = uploaded.raise_for_status().json()["id"]
        order = {"dataset_id": dataset_id, "target": "y", "k": 2, "method": {"name": "mrmr"}}
        callers = [Caller(http, tally, {**order, "seed": n}) for n in range(n_callers)]
        started = time.monotonic()
        await asyncio.gather(*(caller.work(started + seconds) for caller in callers))
        tally.elapsed = time.monotonic() - started
    return tally
