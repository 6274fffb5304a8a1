"""Rows of a tenant for the sessions of that tenant, and all rows for the service."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
compatible_with = "0004"  # without its tenant told, a connection sees nothing
branch_labels = None
depends_on = None

TABLES = ("datasets", "jobs", "job_events", "job_results", "job_units", "api_keys")


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    for table in TABLES:
        op.execute(
            f"CREATE POLICY tenant ON {table} "
            "USING (current_setting('pith.tenant', true) IN (tenant, '*'))"
        )
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        # The service owns its tables, and owners are exempt otherwise.
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
        op.execute(f"DROP POLICY tenant ON {table}")
