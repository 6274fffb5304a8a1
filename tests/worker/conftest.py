"""A service with an impatient sweeper, on a database and broker of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.running import Service, running_api

IMPATIENT = {
    "PITH_LEASE_SECONDS": "3",
    "PITH_HEARTBEAT_SECONDS": "0.5",
    "PITH_SWEEP_SECONDS": "0.5",
    "PITH_RESEND_SECONDS": "1",
    "PITH_BACKOFF_SECONDS": "0.2",
}


@pytest.fixture
def service(database_url: str, broker_url: str, tmp_path: Path) -> Iterator[Service]:
    """The API alone; tests start the workers that they are about to harm."""
    with running_api(database_url, broker_url, tmp_path, **IMPATIENT) as service:
        yield service
