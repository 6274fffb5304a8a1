"""Results on their way out: what is to be written where, and how far it is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0014"
down_revision = "0013"
compatible_with = "0004"  # older code leaves the new column as it is, and the table alone
branch_labels = None
depends_on = None

DOCUMENT = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
TIME = sa.DateTime(timezone=True)
TABLE = "job_deliveries"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("delivery", DOCUMENT))
    op.create_table(
        TABLE,
        sa.Column("job_id", sa.String(40), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("destination", DOCUMENT, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("owner", sa.String(64)),
        sa.Column("lease_until", TIME),
        sa.Column("available_at", TIME, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name="fk_job_deliveries_job_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", name="pk_job_deliveries"),
    )
    op.create_index("ix_job_deliveries_status_available_at", TABLE, ["status", "available_at"])
    if op.get_bind().dialect.name == "postgresql":  # as 0004 does for the other tables
        op.execute(
            f"CREATE POLICY tenant ON {TABLE} "
            "USING (current_setting('pith.tenant', true) IN (tenant, '*'))"
        )
        op.execute(f"ALTER TABLE {TABLE} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {TABLE} FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    op.drop_table(TABLE)
    op.drop_column("jobs", "delivery")
