"""The bell: the Celery object, what workers can be called for, and ringing them with an id."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import structlog
from celery import Celery
from kombu.entity import Queue
from kombu.exceptions import OperationalError
from redis import Redis, RedisError

JOBS_QUEUE = "pith"
READS_QUEUE = "pith.reads"
# After a failure nobody asks the broker for this long: a sweep of hundreds waits for it once.
PAUSE_SECONDS = 1.0
PROBE_SECONDS = 1
# While messages wait, an unheard one most likely waits among them. Ringing again for each would
# fill the queue with repetitions, faster than a busy worker can drop them.
BUSY_PATIENCE = 30

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Call:
    """What a worker is called for: the name of the task, and the queue that its message takes."""

    task: str
    queue: str


READ_DATASET = Call("pith.read_dataset", READS_QUEUE)
RUN_JOB = Call("pith.run_job", JOBS_QUEUE)
# With the id of the job: whoever hears it takes the unit that is next.
RUN_UNIT = Call("pith.run_unit", JOBS_QUEUE)


def _queue(name: str) -> Queue:
    return Queue(name, no_ack=True)  # type: ignore[no-untyped-call]


# A dead broker costs a ring this long, not the kernel's minutes.
_TIMEOUTS: dict[str, Any] = {"socket_connect_timeout": 2, "socket_timeout": 5}
SETTINGS: dict[str, Any] = {
    # Messages carry an id and nothing else; JSON cannot smuggle objects.
    "task_serializer": "json",
    "accept_content": ["json"],
    # The row is the result. A backend would be a second truth, and fill up.
    "task_ignore_result": True,
    "result_backend": None,
    # Nothing is acknowledged. Late acknowledgement re-runs tasks longer than the visibility timeout
    # (celery#5935) and can block on MemoryError (celery#10462); after an early one that breaks off
    # with its connection, a worker waits for ever for room to fetch (celery#8091). The lease
    # recovers what is lost.
    "task_queues": [_queue(JOBS_QUEUE), _queue(READS_QUEUE)],
    "task_acks_late": False,
    "task_reject_on_worker_lost": False,
    # Fetch a message only when somebody is free: none waits behind a long task while another worker
    # is idle.
    "worker_disable_prefetch": True,
    # A broker that is not up yet is waited for; the default changes to giving up.
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,
    # Cancelling is a flag in the row; nothing is revoked, watched or steered through the broker.
    "worker_enable_remote_control": False,
    "worker_send_task_events": False,
    "task_default_queue": JOBS_QUEUE,
    "worker_redirect_stdouts": False,
    "broker_transport_options": {
        **_TIMEOUTS,
        "socket_keepalive": True,
        # kombu would try to connect for seconds; the sweeper rings again anyway.
        "max_retries": 1,
        "interval_start": 0,
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
        self._resume = 0.0

    def ring(self, call: Call, identifier: str) -> None:
        """Tell a worker that there is something to do for the row of this id."""
        if time.monotonic() < self._resume:
            return
        try:
            self.celery.send_task(call.task, args=[identifier], queue=call.queue, retry=False)
        except (OperationalError, OSError) as error:
            self._resume = time.monotonic() + PAUSE_SECONDS
            log.warning("broker unreachable", task=call.task, id=identifier, error=str(error))

    def patience(self, queue: str, resend_seconds: float) -> timedelta:
        """How long a ring may go unheard before it is taken for lost."""
        return timedelta(seconds=resend_seconds * (1 if self.is_silent(queue) else BUSY_PATIENCE))

    def is_silent(self, queue: str) -> bool:
        """Whether no message waits for a worker, as far as the broker can be asked."""
        try:
            with Redis.from_url(self.celery.conf.broker_url, **_TIMEOUTS) as client:
                return bool(client.llen(queue) == 0)
        except RedisError:
            return True

    def is_reachable(self) -> bool:
        """Whether the broker answers, and soon."""
        soon = {"socket_connect_timeout": PROBE_SECONDS, "socket_timeout": PROBE_SECONDS}
        try:
            with self.celery.connection_for_write(transport_options=soon) as connection:
                connection.ensure_connection(max_retries=1, interval_start=0, timeout=PROBE_SECONDS)
        except (OperationalError, OSError):
            return False
        return True


class BackgroundBell(Bell):
    """Rings from a thread of its own: a broker that hangs holds up no answer."""

    def __init__(self, celery: Celery) -> None:
        super().__init__(celery)
        self._ringer = ThreadPoolExecutor(1, thread_name_prefix="bell")

    def ring(self, call: Call, identifier: str) -> None:
        """The same, a moment later."""
        self._ringer.submit(super().ring, call, identifier)
