"""The migrations, on a real database: up, down, up, and nothing left for autogenerate."""

from __future__ import annotations

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect

from app.db.base import Base
from app.db.migrate import alembic_config, is_current, upgrade
from app.db.session import make_engine
from app.jobs import service  # noqa: F401  registers all tables
from app.keys import models  # noqa: F401


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
