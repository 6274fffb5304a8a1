"""The migrations, on a real database: up, down, up, and nothing left for autogenerate."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect

import migrations
from app.db.base import Base
from app.db.migrate import alembic_config, is_current, upgrade
from app.db.session import make_engine
from app.jobs import service  # noqa: F401  registers all tables
from app.keys import models  # noqa: F401

LATER = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, compatible_with = "9999", "{newest}", "{compatible_with}"

def upgrade():
    op.add_column("counters", sa.Column("note", sa.String(8)))

def downgrade():
    op.drop_column("counters", "note")
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


def migrate_by_a_later_version(
    url: str, compatible_with: str, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Path(migrations.__file__).parent
    later = shutil.copytree(source, directory, ignore=shutil.ignore_patterns("__pycache__"))
    newest = ScriptDirectory.from_config(alembic_config("")).get_current_head()
    migration = LATER.format(newest=newest, compatible_with=compatible_with)
    (later / "versions" / "9999_later.py").write_text(migration)
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "__file__", str(later / "__init__.py"))
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
