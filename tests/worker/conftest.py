"""A service with an impatient sweeper, on a database and broker of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import servers
from tests.app.conftest import fresh_database, fresh_store
from tests.app.running import Service, running_api

IMPATIENT = {
    "PITH_LEASE_SECONDS": "3",
    "PITH_HEARTBEAT_SECONDS": "0.5",
    "PITH_SWEEP_SECONDS": "0.5",
    "PITH_RESEND_SECONDS": "1",
    "PITH_BACKOFF_SECONDS": "0.2",
}


@pytest.fixture(scope="module", params=["postgres", "sqlite"])
def service(
    request: pytest.FixtureRequest,
    valkey: servers.Valkey,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Service]:
    """The API alone; tests start the workers that they are about to harm."""
    data_dir = tmp_path_factory.mktemp("faults")
    url = fresh_database(request, data_dir)
    env = {**IMPATIENT, **fresh_store(request)}
    with running_api(url, valkey.url(3), data_dir, **env) as service:
        yield service
