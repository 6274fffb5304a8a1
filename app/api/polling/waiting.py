"""Lets any number of requests wait for jobs to change, with one query at a time and no thread."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping

from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from app.api.polling.versions import ReadVersions, Version

POLL_SECONDS = 0.2

Waiter = tuple[int, asyncio.Event]


class Watcher:
    """Asks for the versions of all awaited jobs together, while anybody waits."""

    def __init__(self, read_versions: ReadVersions) -> None:
        self._read_versions = read_versions
        self._waiters: defaultdict[str, set[Waiter]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None
        self.is_closed = False

    async def wait(self, job_id: str, version: int, seconds: float) -> bool:
        """Return when the job is no longer at `version`, or False after `seconds`."""
        if self.is_closed:
            return False
        waiter = (version, asyncio.Event())
        self._waiters[job_id].add(waiter)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._watch())
        try:
            async with asyncio.timeout(seconds):
                await waiter[1].wait()
        except TimeoutError:
            return False
        finally:
            self._forget(job_id, waiter)
        return True

    def _forget(self, job_id: str, waiter: Waiter) -> None:
        self._waiters[job_id].discard(waiter)
        if not self._waiters[job_id]:
            del self._waiters[job_id]

    async def _watch(self) -> None:
        while self._waiters:
            await asyncio.sleep(POLL_SECONDS)
            try:
                versions = await run_in_threadpool(self._read_versions, list(self._waiters))
            except SQLAlchemyError:  # each waiter meets the fault in its own query
                versions = {}
            self._wake(versions)

    def _wake(self, versions: Mapping[str, Version]) -> None:
        for job_id, waiters in self._waiters.items():
            now = versions.get(job_id)
            for version, event in waiters:
                if now is None or now.number != version:
                    event.set()

    def close(self) -> None:
        """Let everybody go, and let nobody wait again."""
        self.is_closed = True
        self._wake({})
        if self._task is not None:
            self._task.cancel()
