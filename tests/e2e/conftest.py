"""One embedded service for the tests that leave it as it was, and a page on it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser import chromium, opened
from tests.e2e.embedded import WINE, Service, serving

# Packages of a person who starts the service among them, and calls them as we do ours.
OURS = ("app", "core", "worker", "migrations")

PATIENCE = 60_000


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory = tmp_path_factory.mktemp("embedded")
    for name in OURS:
        (directory / name).mkdir()
        (directory / name / "__init__.py").write_text(f"raise RuntimeError('not our {name}')")
    with serving(directory / "data", PITH_CONNECTIONS=str(write_lake(directory))) as running:
        yield running


def write_lake(directory: Path) -> Path:
    """A directory with the wines in it, that may be written to as well."""
    (directory / "lake" / "in").mkdir(parents=True)
    shutil.copy(WINE, directory / "lake" / "in")
    path = directory / "connections.toml"
    url = f"file://{directory}/lake"
    path.write_text(f'[lake]\ntype = "file"\nurl = "{url}"\nread = ["in"]\nwrite = ["out"]\n')
    return path


@pytest.fixture(scope="package")
def finished(service: Service) -> str:
    """A job with a result."""
    job_id = service.submit(service.upload(), k=3, method={"name": "gsm_cpd", "ranks": [5]})
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
