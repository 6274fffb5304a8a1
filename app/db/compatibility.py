"""Which code works on which schema: while a deployment goes on, and after it was taken back.

A migration says by `compatible_with` from which revision on code works on what it leaves. Older
code does not have that migration, so the promise stands in the database.
"""

from __future__ import annotations

from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, delete, insert, inspect, select
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base
from app.db.text import Line


class Compatibility(Base):
    """One row: code that knows the schema `oldest`, or a later one, works on this one."""

    __tablename__ = "compatibility"

    oldest: Mapped[str] = mapped_column(Line(32), primary_key=True)


def promise(connection: Connection, scripts: ScriptDirectory, revision: str) -> None:
    """Write what a migration says, once there is a place for it."""
    if not inspect(connection).has_table(Compatibility.__tablename__):
        return
    oldest = scripts.get_revision(revision).module.compatible_with
    connection.execute(delete(Compatibility))
    connection.execute(insert(Compatibility).values(oldest=oldest))


def is_usable(engine: Engine, scripts: ScriptDirectory) -> bool:
    """Whether this code works on the schema that is there."""
    with engine.connect() as connection:
        found = MigrationContext.configure(connection).get_current_revision()
        return found == scripts.get_current_head() or _is_promised(connection, scripts, found)


def is_newer(engine: Engine, scripts: ScriptDirectory) -> bool:
    """Whether the schema comes from later code."""
    with engine.connect() as connection:
        found = MigrationContext.configure(connection).get_current_revision()
    return found is not None and found not in _known(scripts)


def _is_promised(connection: Connection, scripts: ScriptDirectory, found: str | None) -> bool:
    if found is None or found in _known(scripts):  # migrations of ours are missing
        return False
    promised = connection.execute(select(Compatibility.oldest)).scalar_one_or_none()
    return promised in _known(scripts)


def _known(scripts: ScriptDirectory) -> set[str]:
    return {script.revision for script in scripts.walk_revisions()}
