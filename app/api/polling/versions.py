"""Reads the versions of all jobs that are asked for at the same time with one query.

A poll needs little more than a version, and a query of its own would cost it a thread and most of
its time. Whoever asks while a query is under way is served by the next one, so that no answer is
older than its question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool

from app.errors import NotFound


@dataclass(frozen=True)
class Version:
    """How often a job has changed, and whose it is."""

    tenant: str
    number: int


ReadVersions = Callable[[Sequence[str]], Mapping[str, Version]]
Asked = dict[str, "asyncio.Future[Version | None]"]


class Versions:
    """One query at a time, for everybody who asked before it began."""

    def __init__(self, read: ReadVersions) -> None:
        self._read = read
        self._asked: Asked = {}
        self._task: asyncio.Task[None] | None = None

    async def of(self, tenant: str, job_id: str) -> int:
        """The version of this tenant's job, or NotFound."""
        if job_id not in self._asked:
            self._asked[job_id] = asyncio.get_running_loop().create_future()
        answer = self._asked[job_id]
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._serve())
        # Shielded: one caller who goes away must not take the answer from the others.
        version = await asyncio.shield(answer)
        if version is None or version.tenant != tenant:
            raise NotFound.of("job", job_id)
        return version.number

    async def _serve(self) -> None:
        while self._asked:
            asked, self._asked = self._asked, {}
            try:
                found = await run_in_threadpool(self._read, list(asked))
            except Exception as error:  # each caller's own handler renders it
                for answer in asked.values():
                    answer.set_exception(error)
                    answer.exception()  # seen, even if its caller has gone away
            else:
                for job_id, answer in asked.items():
                    answer.set_result(found.get(job_id))
