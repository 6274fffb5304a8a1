"""The bell: the Celery object, the names of tasks and queues, and ringing them with an id."""

from __future__ import annotations

from typing import Any

import structlog
from celery import Celery
from kombu.exceptions import OperationalError

RUN_JOB = "pith.run_job"
READ_DATASET = "pith.read_dataset"
QUEUE = "pith"

log = structlog.get_logger(__name__)

SETTINGS: dict[str, Any] = {
    # Messages carry an id and nothing else; JSON cannot smuggle objects.
    "task_serializer": "json",
    "accept_content": ["json"],
    # The row is the result. A backend would be a second truth, and fill up.
    "task_ignore_result": True,
    "result_backend": None,
    # Acknowledge early. Late acknowledgement re-runs tasks longer than the visibility timeout
    # (celery#5935) and can block on MemoryError (celery#10462); the lease recovers what is lost.
    "task_acks_late": False,
    "task_reject_on_worker_lost": False,
    # A worker that hoards messages makes jobs wait behind a long one while others are idle.
    "worker_prefetch_multiplier": 1,
    # A broker that is not up yet is waited for; the default changes to giving up.
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,
    # Cancelling is a flag in the row; nothing is revoked, watched or steered through the broker.
    "worker_enable_remote_control": False,
    "worker_send_task_events": False,
    "task_default_queue": QUEUE,
    # Our logs have one form; Celery would replace the handlers.
    "worker_hijack_root_logger": False,
    "worker_redirect_stdouts": False,
    "broker_transport_options": {
        # A dead broker costs a submission this long, not the kernel's minutes.
        "socket_connect_timeout": 2,
        "socket_timeout": 5,
        "socket_keepalive": True,
    },
}


def make_celery(broker_url: str) -> Celery:
    """The Celery object; the worker adds its tasks to it."""
    celery = Celery("pith", broker=broker_url, set_as_current=False)
    celery.conf.update(SETTINGS)
    return celery


class Bell:
    """Rings the workers; a lost ring is no harm, because the sweeper rings again."""

    def __init__(self, celery: Celery) -> None:
        self.celery = celery

    def ring_for_job(self, job_id: str) -> None:
        """Tell a worker that this job may be claimed."""
        self._ring(RUN_JOB, job_id)

    def ring_for_dataset(self, dataset_id: str) -> None:
        """Tell a worker that this upload may be read."""
        self._ring(READ_DATASET, dataset_id)

    def _ring(self, task: str, identifier: str) -> None:
        try:
            self.celery.send_task(task, args=[identifier], queue=QUEUE, retry=False)
        except (OperationalError, OSError) as error:
            log.warning("broker unreachable", task=task, id=identifier, error=str(error))

    def is_reachable(self) -> bool:
        """Whether the broker answers."""
        try:
            with self.celery.connection_for_write() as connection:
                connection.ensure_connection(max_retries=1, interval_start=0, timeout=2)
        except (OperationalError, OSError):
            return False
        return True
