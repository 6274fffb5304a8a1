"""What the worker's two programs share: a Celery worker on one queue, and a flag to stop it."""

from __future__ import annotations

import warnings
from typing import Any

from billiard.util import get_logger
from celery import signals

from app.broker import make_celery
from app.logs import configure_logging
from app.settings import get_settings
from worker.process import Process, StopFlag


def make_process() -> Process:
    """Settings, logs, Celery and the flag; before anything is forked."""
    settings = get_settings()
    configure_logging(settings.log_level, settings.log_format)
    # Celery warns of unsafe messages when root runs it; ours carry an id, as JSON.
    warnings.filterwarnings("ignore", message="You're running the worker with superuser")
    stopping = StopFlag()

    @signals.setup_logging.connect(weak=False)  # type: ignore[untyped-decorator]
    def keep_logging(**_: Any) -> None:
        """Keep Celery's handlers out, and let the pool speak through ours: logs have one form."""
        get_logger().propagate = True

    @signals.worker_shutting_down.connect(weak=False)  # type: ignore[untyped-decorator]
    def hand_back(**_: Any) -> None:
        stopping.set()

    return Process(settings, make_celery(settings.broker_url), stopping)


def work_on(process: Process, queue: str, pool: str, concurrency: int) -> None:
    """Take what comes through one queue, until told to stop."""
    process.celery.worker_main(
        [
            "worker",
            f"--hostname={pool}@%h",
            f"--pool={pool}",
            f"--concurrency={concurrency}",
            f"--queues={queue}",
            f"--loglevel={process.settings.log_level}",
            # Workers know each other through the database; chatter through the broker is waste.
            "--without-gossip",
            "--without-mingle",
            "--without-heartbeat",
        ]
    )
