"""The program that reads uploads, sweeps and delivers. It loads no engine and forks nothing.

Threads are enough: each waits for the process that reads its file.
"""

from __future__ import annotations

from typing import Any

from celery import signals

from app.broker import READ_DATASET, READS_QUEUE
from app.traces import current
from worker.exporter import Exporter
from worker.pool import make_process, work_on
from worker.postman import Postman
from worker.reader import read_dataset
from worker.sweeper import Sweeper


def main() -> None:
    """Read uploads, sweep, deliver webhooks and results until told to stop."""
    process = make_process()

    @process.celery.task(name=READ_DATASET.task)  # type: ignore[untyped-decorator]
    def read(dataset_id: str) -> None:
        read_dataset(process, dataset_id)

    sweeper = Sweeper(process.settings, process.bell, process.store)
    aside = (sweeper, Postman(process.settings), Exporter(process))

    @signals.worker_shutting_down.connect(weak=False)  # type: ignore[untyped-decorator]
    def stop_aside(**_: Any) -> None:
        for part in aside:
            part.stop()

    current.configure(process.settings, "reads")
    # Not when Celery is ready: that waits for the broker, and what they do needs none.
    for part in aside:
        part.start()
    work_on(process, READS_QUEUE, "threads", process.settings.worker_readers)
