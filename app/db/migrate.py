"""Bring a database to the newest schema."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

import migrations
from app.db.compatibility import is_newer, is_usable
from app.db.session import make_engine


def alembic_config(url: str) -> Config:
    """Alembic's configuration; `migrations/env.py` takes the address from `attributes`.

    Not from the main options: those interpolate `%`, which passwords contain.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.attributes["url"] = url
    return config


def upgrade(url: str, revision: str = "head") -> None:
    """Apply what is missing; nothing happens on a database that is current, or newer than that."""
    engine = make_engine(url, pool_size=0)
    if not is_newer(engine, _scripts()):
        command.upgrade(alembic_config(url), revision)


def is_exempt(url: str) -> bool:
    """Whether row-level security does not hold for the role of this address."""
    engine = make_engine(url, pool_size=0)
    if engine.dialect.name != "postgresql":
        return False
    question = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
    with engine.connect() as connection:
        return bool(connection.exec_driver_sql(question).scalar_one())


def is_current(engine: Engine) -> bool:
    """Whether the database has the schema that this code needs, or a newer one that will do."""
    return is_usable(engine, _scripts())


@lru_cache
def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(alembic_config(""))
