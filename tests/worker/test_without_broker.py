"""A worker that starts while the broker is away does what needs none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests import servers
from tests.app.protocol import OVER, Protocol


def test_leases_are_recovered_before_there_is_a_broker(sqlite_url: str, tmp_path: Path) -> None:
    protocol = Protocol(sqlite_url)
    job_id = protocol.submit()
    protocol.claimed(job_id, OVER)
    env = {
        **os.environ,
        "PITH_DATABASE_URL": sqlite_url,
        "PITH_DATA_DIR": str(tmp_path),
        "PITH_BROKER_URL": f"redis://127.0.0.1:{servers.free_port()}/0",
        "PITH_SWEEP_SECONDS": "0.1",
    }
    with subprocess.Popen([sys.executable, "-m", "worker", "reads"], env=env) as worker:
        try:
            servers.until(lambda: protocol.read(job_id).status == "queued")
            assert protocol.events(job_id)[-1] == "lease_expired"
        finally:
            worker.kill()
            protocol.database.dispose()
