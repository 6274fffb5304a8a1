"""The worker: Celery with our tasks, a sweeper beside it, and a hand-back when told to stop."""

from __future__ import annotations

from typing import Any

import structlog
from celery import Celery, signals

from app.broker import QUEUE, Bell, make_celery
from app.settings import Settings, get_settings
from core.warm import warm_kernels
from worker.process import Process, StopFlag
from worker.sweeper import Sweeper
from worker.tasks import register_tasks

log = structlog.get_logger(__name__)


def run() -> None:
    """Work until told to stop."""
    settings = get_settings()
    celery = make_worker(settings)
    celery.worker_main(
        [
            "worker",
            "--pool=prefork",
            f"--concurrency={settings.worker_concurrency}",
            f"--queues={QUEUE}",
            f"--loglevel={settings.log_level}",
            # Workers know each other through the database; chatter through the broker is waste.
            "--without-gossip",
            "--without-mingle",
            "--without-heartbeat",
        ]
    )


def make_worker(settings: Settings) -> Celery:
    """The Celery object with tasks, limits and signals."""
    celery = make_celery(settings.broker_url)
    celery.conf.update(_worker_settings(settings))
    stopping = StopFlag()
    register_tasks(celery, Process(settings, celery, stopping))
    _connect_signals(settings, Bell(celery), stopping)
    return celery


def _worker_settings(settings: Settings) -> dict[str, Any]:
    return {
        # Fetch a message only when a process is free: a job never waits behind a long one while
        # another worker is idle.
        "worker_disable_prefetch": True,
        # Leaks of libraries end with the process.
        "worker_max_tasks_per_child": settings.worker_max_jobs,
        "worker_max_memory_per_child": settings.worker_max_memory_bytes // 1024,
        # Deadlines are checked between kernels; this is the backstop for a run that never returns.
        "task_time_limit": settings.max_deadline_seconds + int(settings.lease_seconds),
        # A first start compiles the kernels; the default of 4 s would kill it again and again.
        "worker_proc_alive_timeout": 600.0,
        # Runs go on while the broker is away: the row, not the message, says whose they are.
        "worker_cancel_long_running_tasks_on_connection_loss": False,
    }


def _connect_signals(settings: Settings, bell: Bell, stopping: StopFlag) -> None:
    sweeper = Sweeper(settings, bell)

    @signals.worker_process_init.connect(weak=False)  # type: ignore[untyped-decorator]
    def warm(**_: Any) -> None:
        warm_kernels()
        log.info("worker process warm")

    @signals.worker_ready.connect(weak=False)  # type: ignore[untyped-decorator]
    def start_sweeper(**_: Any) -> None:
        sweeper.start()

    @signals.worker_shutting_down.connect(weak=False)  # type: ignore[untyped-decorator]
    def hand_back(**_: Any) -> None:
        stopping.set()
        sweeper.stop()


if __name__ == "__main__":
    run()
