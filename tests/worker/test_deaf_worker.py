"""A connection that breaks at the wrong moment must not leave a worker that hears nothing more."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from app.broker import JOBS_QUEUE, make_celery
from tests import servers
from tests.faults.proxy import proxy

LISTEN = f"""
from worker.pool import make_process, work_on
process = make_process()
@process.celery.task(name="say")
def say(word):
    print(word, flush=True)
work_on(process, "{JOBS_QUEUE}", "threads", 1)
"""
# What kombu says to Redis when a message is acknowledged.
ACKNOWLEDGED = b"HDEL"
DEAF_SECONDS = 120.0


def test_a_message_whose_acknowledgement_breaks_off_is_not_the_last_one_heard(
    valkey: servers.Valkey, broker_url: str, tmp_path: Path
) -> None:
    with make_celery(broker_url) as celery, proxy(valkey.port) as way:
        url = broker_url.replace(str(valkey.port), str(way.port))
        env = {**os.environ, "PITH_BROKER_URL": url, "PITH_DATA_DIR": str(tmp_path)}
        way.cut_at(ACKNOWLEDGED)
        command = [sys.executable, "-c", LISTEN]
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as worker:
            assert worker.stdout is not None
            deaf = threading.Timer(DEAF_SECONDS, worker.kill)
            deaf.start()
            spoken = (line.strip() for line in worker.stdout)
            for word in ("one", "two", "three"):
                celery.send_task("say", args=[word], queue=JOBS_QUEUE)
                assert word in spoken
            deaf.cancel()
            worker.kill()
