"""One embedded service for the tests that leave it as it was, and a page on it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import psycopg
import pytest
from deltalake import write_deltalake
from playwright.sync_api import Browser, Page, expect

from tests import servers
from tests.e2e.browser import chromium, opened
from tests.e2e.embedded import WINE, Service, serving

# Packages of a person who starts the service among them, and calls them as we do ours.
OURS = ("app", "core", "worker", "migrations")

PATIENCE = 60_000
NUMBERS = "generate_series(1, 90) AS i"
OPEN = '[open]\ntype = "https"\nhosts = ["data.example.org"]\n'


@pytest.fixture(scope="session")
def service(
    tmp_path_factory: pytest.TempPathFactory, postgres: servers.Postgres
) -> Iterator[Service]:
    directory = tmp_path_factory.mktemp("embedded")
    for name in OURS:
        (directory / name).mkdir()
        (directory / name / "__init__.py").write_text(f"raise RuntimeError('not our {name}')")
    connections = directory / "connections.toml"
    warehouse = write_warehouse(postgres)
    connections.write_text(f"{write_lake(directory / 'lake')}{warehouse}{OPEN}")
    with serving(directory / "data", PITH_CONNECTIONS=str(connections)) as running:
        yield running


def write_lake(directory: Path) -> str:
    """The wines as a file and as a table of two versions, and a folder that may be written to."""
    (directory / "in").mkdir(parents=True)
    shutil.copy(WINE, directory / "in")
    wines = pl.read_csv(WINE)
    write_deltalake(str(directory / "in" / "wines"), wines.head(100))
    write_deltalake(str(directory / "in" / "wines"), wines.tail(78), mode="append")
    return f'[lake]\ntype = "file"\nurl = "file://{directory}"\nread = ["in"]\nwrite = ["out"]\n'


def write_warehouse(postgres: servers.Postgres) -> str:
    """A table of a database that may be asked."""
    url = postgres.url(postgres.create()).replace("+psycopg", "")
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE beans AS SELECT i AS size, i % 3 AS kind FROM " + NUMBERS)
    return f'[warehouse]\ntype = "postgres"\nurl = "{url}"\nqueries = true\n'


@pytest.fixture(scope="package")
def finished(service: Service) -> str:
    """A job with a result."""
    job_id = service.submit(service.upload(), k=3, method={"name": "gsm_cpd", "ranks": [5]})
    service.wait_for(job_id, "succeeded")
    return job_id


@pytest.fixture(scope="package")
def rival(service: Service) -> str:
    """Another job with a result, on the same table."""
    job_id = service.submit(service.upload(), k=2, method={"name": "mrmr"})
    service.wait_for(job_id, "succeeded")
    return job_id


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE)
    with chromium() as running:
        yield running


@pytest.fixture
def page(
    browser: Browser, service: Service, finished: str, request: pytest.FixtureRequest
) -> Iterator[Page]:
    """Opened when a first job is done: a worker may have to compile its kernels before it."""
    with opened(browser, service.address, refused=getattr(request, "param", ())) as page:
        yield page
