"""One running service with the stand-in engine, and a client of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pith_client import Pith
from tests import servers
from tests.app.conftest import write_connections
from tests.app.running import Service, running_api, running_worker


@pytest.fixture(scope="session")
def service(
    valkey: servers.Valkey, migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    data_dir = tmp_path_factory.mktemp("client")
    url = f"sqlite:///{shutil.copy(migrated_sqlite, data_dir / 'pith.db')}"
    env = {"PITH_CONNECTIONS": str(write_connections(data_dir))}
    with running_api(url, valkey.url(3), data_dir, **env) as service, running_worker(service):
        yield service


@pytest.fixture
def pith(service: Service) -> Iterator[Pith]:
    with Pith(service.url) as client:
        yield client
