"""Fixtures that give a test real servers; nothing starts before a test asks for it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.db.migrate import upgrade
from tests import servers


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
