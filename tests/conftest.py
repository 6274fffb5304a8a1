"""Fixtures that give a test real servers; nothing starts before a test asks for it.

And what keeps a run short: kernels are compiled once, and long tests come first.
"""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO

import pytest
from hypothesis import settings

from app.db import session as sessions
from app.db.migrate import upgrade
from tests import servers

# A shell that runs us in its background has SIGINT ignored, here and in every process from here.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# As the Makefile does: without bytecode on disk every start of a process compiles all it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Where many tests share few cores one may stand still for longer than a process that is well ever
# does; Postgres would take it for frozen, and end its transaction.
sessions.IDLE_SECONDS = 120

# No example is wrong because a busy machine took long over it.
settings.register_profile("patient", settings.default, deadline=None)
settings.load_profile("patient")

# What is collected stays: it need not be searched for garbage, now or while tests run.
gc.disable()

ROOT = Path(__file__).parents[1]
WARM = "from core.warm import warm_kernels; warm_kernels()"
# Tests that wait and start many processes, the longest first; those after them fill the gaps.
EARLY = (
    "tests/ops/test_containers.py::test_the_image_builds",
    "tests/worker/test_faults.py",
    "tests/app",
    "tests/worker",
    "tests/client",
    "tests/faults",
    "tests/e2e",
    "tests/ops",
)
WITHOUT_KERNELS = EARLY[:3]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels beside the first tests, once for all processes of a parallel run."""
    if not session.config.getoption("numprocesses", None):
        return
    with _lock(session.config) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # The program inherits the lock, which is free when it has ended, however it does.
        command = [sys.executable, "-c", WARM]
        warming = subprocess.Popen(command, cwd=ROOT, pass_fds=[lock.fileno()])
    session.config.add_cleanup(partial(_end, warming))


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no process idles at the end."""
    items.sort(key=lambda item: _place(item, EARLY))


def pytest_collection_finish() -> None:
    """From here on there may be garbage."""
    gc.freeze()
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Wait for the kernels rather than compile them a second time."""
    if _place(item, WITHOUT_KERNELS) == len(WITHOUT_KERNELS):
        with _lock(item.config) as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)


def _place(item: pytest.Item, paths: tuple[str, ...]) -> int:
    """Which of the paths a test lies under; their number if none."""
    return next((n for n, path in enumerate(paths) if item.nodeid.startswith(path)), len(paths))


def _lock(config: pytest.Config) -> IO[str]:
    path = config.rootpath / ".pytest_cache" / "kernels.lock"
    path.parent.mkdir(exist_ok=True)
    return path.open("w")


@pytest.fixture(scope="session")
def postgres() -> Iterator[servers.Postgres]:
    """The Postgres of this test process."""
    with servers.postgres() as server:
        yield server


@pytest.fixture(scope="session")
def valkey() -> Iterator[servers.Valkey]:
    """The Valkey of this test process."""
    with servers.valkey() as server:
        yield server


@pytest.fixture(scope="session")
def s3() -> Iterator[servers.S3]:
    """The object storage of this test process."""
    with servers.s3() as server:
        yield server


@pytest.fixture
def broker_url(valkey: servers.Valkey) -> str:
    """An empty broker."""
    valkey.flush()
    return valkey.url()


@pytest.fixture(scope="session")
def migrated_postgres(postgres: servers.Postgres) -> str:
    """The name of a migrated database that tests copy."""
    name = postgres.create()
    upgrade(postgres.url(name))
    return name


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated file that tests copy."""
    path = tmp_path_factory.mktemp("sqlite") / "migrated.db"
    upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def postgres_url(postgres: servers.Postgres, migrated_postgres: str) -> Iterator[str]:
    """A fresh migrated database on Postgres."""
    name = postgres.create(template=migrated_postgres)
    yield postgres.url(name)
    postgres.drop(name)


@pytest.fixture
def sqlite_url(migrated_sqlite: Path, tmp_path: Path) -> str:
    """A fresh migrated database on SQLite."""
    return f"sqlite:///{shutil.copy(migrated_sqlite, tmp_path / 'pith.db')}"


@pytest.fixture(params=["postgres", "sqlite"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A fresh migrated database, once on Postgres and once on SQLite."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture(params=["postgres", "sqlite"])
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without tables, once on Postgres and once on SQLite."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
        return
    server: servers.Postgres = request.getfixturevalue("postgres")
    name = server.create()
    yield server.url(name)
    server.drop(name)
