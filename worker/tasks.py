"""The doors between Celery and the work."""

from __future__ import annotations

from celery import Celery

from app.broker import READ_DATASET, RUN_JOB
from worker.process import Process
from worker.reader import read_dataset
from worker.runner import run_job


def register_tasks(celery: Celery, process: Process) -> None:
    """Give the tasks their names; each takes an id and answers nothing."""

    @celery.task(name=RUN_JOB)  # type: ignore[untyped-decorator]
    def run(job_id: str) -> None:
        run_job(process, job_id)

    @celery.task(name=READ_DATASET)  # type: ignore[untyped-decorator]
    def read(dataset_id: str) -> None:
        read_dataset(process, dataset_id)
