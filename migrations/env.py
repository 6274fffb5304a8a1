"""How Alembic reaches the database; the address comes from `app.db.migrate`."""

from __future__ import annotations

from typing import Any

from alembic import context
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, func, select

from app import metrics  # noqa: F401  registers its table
from app.audit import models as audit_models  # noqa: F401
from app.datasets import models as dataset_models  # noqa: F401
from app.db.base import Base
from app.db.compatibility import promise
from app.db.session import make_engine
from app.jobs import models as job_models  # noqa: F401
from app.jobs import speeds  # noqa: F401
from app.keys import models as key_models  # noqa: F401
from app.webhooks import models as webhook_models  # noqa: F401

# A large table takes its time, and nobody waits for an answer.
PATIENCE_SECONDS = 3600.0
# A number like any other, which nothing else locks: tenants are locked by hashes of their names.
MIGRATION_LOCK = 0x70697468


def run() -> None:
    """Run what Alembic was asked for in one transaction, alone."""
    url, lock_seconds = (context.config.attributes[name] for name in ("url", "lock_seconds"))
    # On SQLite the only wait is that for the one who writes.
    patience = lock_seconds if url.startswith("sqlite") else PATIENCE_SECONDS
    engine = make_engine(url, pool_size=0, seconds=patience)
    with engine.connect() as connection:
        context.configure(
            connection=connection,
            target_metadata=Base.metadata,
            # SQLite alters a table by copying it.
            render_as_batch=connection.dialect.name == "sqlite",
            on_version_apply=_promise,
            # Alembic commits every step by itself on SQLite otherwise, and another migration that
            # read the version before then does the next step a second time.
            transactional_ddl=True,
        )
        with context.begin_transaction():
            if connection.dialect.name == "postgresql":
                _lock(connection, lock_seconds)
            context.run_migrations()


def _lock(connection: Connection, seconds: float) -> None:
    """Let no other migration begin before this one ends.

    Nor does it wait for long, here or for a table: whoever wants that table waits behind it.
    """
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {round(seconds * 1000)}")
    connection.execute(select(func.pg_advisory_xact_lock(MIGRATION_LOCK)))


def _promise(ctx: MigrationContext, heads: set[str], **_: Any) -> None:
    """In the transaction of every step; there is one line of migrations."""
    assert ctx.connection is not None
    for revision in heads:
        promise(ctx.connection, context.script, revision)


run()
