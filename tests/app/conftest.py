"""One running service for each database and test process."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from app.logs import configure_logging
from tests import servers
from tests.app.running import START_SECONDS, Service, running_api, running_worker
from tests.collector import Collector
from tests.collector import collector as collecting
from tests.issuer import Issuer, issuer
from tests.receivers import Receiver, receiver

SETTINGS = {
    "PITH_MAX_UPLOAD_BYTES": "2MiB",
    "PITH_ALLOWED_NETWORKS": "127.0.0.0/8",
    "PITH_LINEAGE_KEY": "hush",
    "OTEL_BSP_SCHEDULE_DELAY": "100",  # milliseconds until spans are sent
    # On a machine that many tests share a child may take longer to start than anybody would wait.
    "PITH_ASK_SECONDS": str(START_SECONDS),
}


@pytest.fixture(scope="session")
def collector() -> Iterator[Collector]:
    """Of the traces of all services here."""
    with collecting() as state:
        yield state


@pytest.fixture(scope="session")
def lineage() -> Iterator[Receiver]:
    """What hears of all jobs of all services here."""
    with receiver() as state:
        yield state


@pytest.fixture(scope="session", params=["postgres", "sqlite"])
def service(
    request: pytest.FixtureRequest,
    valkey: servers.Valkey,
    collector: Collector,
    lineage: Receiver,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Service]:
    """API and worker, once on Postgres and S3, once on SQLite and a directory."""
    data_dir = tmp_path_factory.mktemp(f"service-{request.param}")
    number = 1 if request.param == "postgres" else 2
    url, env = fresh_database(request, data_dir), fresh_store(request)
    env |= SETTINGS | {"PITH_TRACES_URL": collector.url, "PITH_LINEAGE_URL": lineage.url}
    env["PITH_CONNECTIONS"] = str(write_connections(data_dir))
    with (
        running_api(url, valkey.url(number), data_dir, **env) as service,
        running_worker(service),
    ):
        yield service


def write_connections(data_dir: Path) -> Path:
    """A directory that may be read and written in part, and something of another tenant's."""
    (data_dir / "lake" / "open").mkdir(parents=True)
    path = data_dir / "connections.toml"
    path.write_text(
        f"""
        [lake]
        type = "file"
        url = "file://{data_dir}/lake"
        read = ["open"]
        write = ["out"]

        [theirs]
        type = "file"
        url = "file://{data_dir}"
        tenants = ["somebody"]
        secrets.token = {{ env = "PITH_TEST_HUSH" }}
        """
    )
    return path


def fresh_database(request: pytest.FixtureRequest, data_dir: Path) -> str:
    """A migrated database of the kind that the fixture's parameter names."""
    if request.param == "sqlite":
        template: Path = request.getfixturevalue("migrated_sqlite")
        return f"sqlite:///{shutil.copy(template, data_dir / 'pith.db')}"
    server: servers.Postgres = request.getfixturevalue("postgres")
    return server.url(server.create(template=request.getfixturevalue("migrated_postgres")))


def fresh_store(request: pytest.FixtureRequest) -> dict[str, str]:
    """Beside Postgres a store on another machine, beside a file a directory."""
    if request.param == "sqlite":
        return {}
    server: servers.S3 = request.getfixturevalue("s3")
    return {"PITH_STORE_URL": server.url(), **server.env}


@pytest.fixture
def logging_configured() -> Iterator[None]:
    """For an application that runs inside the test."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    configure_logging("error", "json")
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture(scope="module")
def steady() -> Iterator[Issuer]:
    """An issuer that no test changes."""
    with issuer() as state:
        yield state


@pytest.fixture
def fickle() -> Iterator[Issuer]:
    """One that a test may change."""
    with issuer() as state:
        yield state
