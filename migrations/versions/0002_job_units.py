"""Units of jobs, for comparisons and stability."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0002"
down_revision = "0001"
compatible_with = "0002"  # older workers would run a job of units as a whole
branch_labels = None
depends_on = None

DOCUMENT = sa.JSON().with_variant(JSONB(), "postgresql")
TIME = sa.DateTime(timezone=True)
COUNTS = ("n_units", "n_units_done")


def upgrade() -> None:
    for name in COUNTS:
        op.add_column("jobs", sa.Column(name, sa.Integer, nullable=False, server_default="0"))
    op.create_table(
        "job_units",
        sa.Column("job_id", sa.String(40), nullable=False),
        sa.Column("number", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("task", DOCUMENT, nullable=False),
        sa.Column("progress", sa.Double, nullable=False),
        sa.Column("output", DOCUMENT),
        sa.Column("arrays", sa.LargeBinary),
        sa.Column("error", DOCUMENT),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("owner", sa.String(64)),
        sa.Column("lease_until", TIME),
        sa.Column("available_at", TIME, nullable=False),
        sa.Column("enqueued_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name="fk_job_units_job_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "number", name="pk_job_units"),
    )
    op.create_index("ix_job_units_status_lease_until", "job_units", ["status", "lease_until"])


def downgrade() -> None:
    op.drop_table("job_units")
    for name in COUNTS:
        op.drop_column("jobs", name)
