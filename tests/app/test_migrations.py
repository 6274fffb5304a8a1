"""The migrations, on a real database: up, down, up, and nothing left for autogenerate."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import MetaData, Table, delete, insert, inspect, select, update
from sqlalchemy.exc import OperationalError, ProgrammingError

import migrations
from app.db import migrate
from app.db.base import Base
from app.db.migrate import alembic_config, is_current, upgrade
from app.db.session import make_engine
from app.errors import Unavailable
from app.jobs import service  # noqa: F401  registers all tables
from app.keys import models  # noqa: F401
from tests import servers

ROOT = Path(__file__).parents[2]
MIGRATE = "import sys; from app.db.migrate import upgrade; upgrade(sys.argv[1])"
OURS = {"alembic_version", "compatibility"}
APPEND_ONLY = {"audit_log"}
VALUES: dict[type, Any] = {
    str: "a",
    int: 1,
    float: 0.5,
    bytes: b"x",
    object: {},  # a document
    datetime: datetime(2026, 1, 1, tzinfo=UTC),
}
LATER = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, compatible_with = "9999", "{newest}", "{compatible_with}"

def upgrade():
    op.add_column("{table}", sa.Column("note", sa.String(8)))

def downgrade():
    op.drop_column("{table}", "note")
"""


def test_up_down_up(empty_database_url: str) -> None:
    engine = make_engine(empty_database_url, pool_size=0)
    assert not is_current(engine)
    upgrade(empty_database_url)
    assert is_current(engine)
    assert set(Base.metadata.tables) <= set(inspect(engine).get_table_names())
    command.downgrade(alembic_config(empty_database_url), "base")
    assert inspect(engine).get_table_names() == ["alembic_version"]
    upgrade(empty_database_url)
    assert is_current(engine)


def test_autogenerate_finds_nothing(database_url: str) -> None:
    engine = make_engine(database_url, pool_size=0)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, Base.metadata) == []


def test_every_migration_says_what_it_is_compatible_with() -> None:
    scripts = ScriptDirectory.from_config(alembic_config(""))
    oldest_first = list(scripts.walk_revisions())[::-1]
    order = [script.revision for script in oldest_first]
    promised = [order.index(script.module.compatible_with) for script in oldest_first]
    assert promised == sorted(promised)  # what an older schema excluded stays excluded
    assert all(place <= own for own, place in enumerate(promised))


def values_of(table: Table) -> dict[str, Any]:
    """Something in every column, as code writes it that knows these columns and no others."""
    return {column.name: VALUES[column.type.python_type] for column in table.columns}


@pytest.mark.parametrize("older", ["promised", "previous"])
def test_code_of_an_older_version_reads_and_writes_the_newest_schema(
    empty_database_url: str, older: str
) -> None:
    """What expands is left alone: the tables as they were then are used as they are now."""
    scripts = ScriptDirectory.from_config(alembic_config(""))
    head = scripts.get_revision("head")
    revision = head.module.compatible_with if older == "promised" else head.down_revision
    upgrade(empty_database_url, str(revision))
    engine, known = make_engine(empty_database_url, pool_size=0), MetaData()
    with engine.connect() as connection:
        known.reflect(connection)
    upgrade(empty_database_url)
    tables = [table for table in known.sorted_tables if table.name not in OURS]
    assert len(tables) >= 7
    with engine.begin() as connection:
        for table in tables:
            connection.execute(insert(table).values(values_of(table)))
            assert connection.execute(select(table)).one()
            if table.name not in APPEND_ONLY:
                connection.execute(update(table).values(values_of(table)))
        for table in reversed(tables):
            if table.name not in APPEND_ONLY:
                assert connection.execute(delete(table)).rowcount == 1


def test_a_migration_waits_for_nobody_for_long(postgres: servers.Postgres) -> None:
    url = postgres.url(name := postgres.create())
    upgrade(url, "0011")
    engine = make_engine(url, pool_size=0)
    with engine.begin() as reader:
        reader.exec_driver_sql("LOCK TABLE jobs IN ACCESS SHARE MODE")
        with pytest.raises(Unavailable, match="nothing was changed"):
            upgrade(url, lock_seconds=0.1, n_tries=2)
        with engine.connect() as other:  # nobody waits behind it any more
            assert other.exec_driver_sql("SELECT count(*) FROM jobs").scalar_one() == 0
    assert not is_current(engine)
    upgrade(url)
    assert is_current(engine)
    postgres.drop(name)


def test_of_two_migrations_at_once_one_does_it_for_both(empty_database_url: str) -> None:
    with ThreadPoolExecutor(2) as pool:
        command = [sys.executable, "-c", MIGRATE, empty_database_url]
        ends = pool.map(lambda _: subprocess.run(command, check=False, cwd=ROOT), range(2))
        assert [end.returncode for end in ends] == [0, 0]
    assert is_current(make_engine(empty_database_url, pool_size=0))


def test_a_migration_that_fails_leaves_no_step_behind(
    empty_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OperationalError if "sqlite" in empty_database_url else ProgrammingError):
        migrate_by_a_later_version(
            empty_database_url, "9999", tmp_path / "later", monkeypatch, table="no_such_table"
        )
    engine = make_engine(empty_database_url, pool_size=0)
    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == []
    upgrade(empty_database_url)
    assert is_current(engine)


def migrate_by_a_later_version(
    url: str,
    compatible_with: str,
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    table: str = "counters",
) -> None:
    source = Path(migrations.__file__).parent
    later = shutil.copytree(source, directory, ignore=shutil.ignore_patterns("__pycache__"))
    newest = ScriptDirectory.from_config(alembic_config("")).get_current_head()
    migration = LATER.format(newest=newest, compatible_with=compatible_with, table=table)
    (later / "versions" / "9999_later.py").write_text(migration)
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "__file__", str(later / "__init__.py"))
        patched.setattr(migrate, "_scripts", migrate._scripts.__wrapped__)  # nothing kept of it
        upgrade(url)


def migrate_by_this_one(url: str, data_dir: Path) -> int:
    env = {**os.environ, "PITH_DATABASE_URL": url, "PITH_DATA_DIR": str(data_dir)}
    command = [sys.executable, "-m", "app", "migrate"]
    return subprocess.run(command, env=env, check=False, capture_output=True).returncode


@pytest.mark.parametrize(("compatible_with", "is_usable"), [("0006", True), ("9999", False)])
def test_a_newer_schema_will_do_if_it_says_so(
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    compatible_with: str,
    is_usable: bool,
) -> None:
    """Replicas that are not replaced yet stay ready, and one that is taken back becomes so."""
    migrate_by_a_later_version(database_url, compatible_with, tmp_path / "later", monkeypatch)
    engine = make_engine(database_url, pool_size=0)
    assert is_current(engine) == is_usable
    assert migrate_by_this_one(database_url, tmp_path) == (0 if is_usable else 2)
    assert "note" in {column["name"] for column in inspect(engine).get_columns("counters")}
