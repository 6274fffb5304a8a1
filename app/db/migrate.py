"""Bring a database to the newest schema."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

import migrations
from app.db.compatibility import is_newer, is_usable
from app.db.session import make_engine
from app.errors import Unavailable

BUSY = (
    "Another migration is under way, or a transaction holds a table for long: nothing was changed. "
    "Run pith migrate again."
)
# What a migration waits for a lock; requests that wait behind it have 10 s.
LOCK_SECONDS = 3.0
PAUSE_SECONDS = 1.0
N_TRIES = 20
LOCK_NOT_AVAILABLE = "55P03"


def alembic_config(url: str, lock_seconds: float = LOCK_SECONDS) -> Config:
    """Alembic's configuration; `migrations/env.py` takes the address from `attributes`.

    Not from the main options: those interpolate `%`, which passwords contain.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.attributes["url"] = url
    config.attributes["lock_seconds"] = lock_seconds
    return config


def upgrade(
    url: str,
    revision: str = "head",
    *,
    lock_seconds: float = LOCK_SECONDS,
    n_tries: int = N_TRIES,
) -> None:
    """Apply what is missing; nothing happens on a database that is current, or newer than that.

    One that is in use is tried again some times, whole; then Unavailable.
    """
    engine = make_engine(url, pool_size=0)
    for n_left in reversed(range(n_tries)):
        try:
            if not is_newer(engine, _scripts()):
                command.upgrade(alembic_config(url, lock_seconds), revision)
            return
        except OperationalError as error:
            if not _is_locked(error):
                raise
            if n_left == 0:
                raise Unavailable(BUSY, code="database_busy") from error
        time.sleep(PAUSE_SECONDS)


def _is_locked(error: OperationalError) -> bool:
    words = str(error.orig)
    state = getattr(error.orig, "sqlstate", None)
    return state == LOCK_NOT_AVAILABLE or "database is locked" in words


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
