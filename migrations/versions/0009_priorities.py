"""What comes first among a tenant's jobs, and when a tenant was last served."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
compatible_with = "0004"  # older code writes no priority, and the default stands in
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jobs", sa.Column("priority", sa.Integer, nullable=False, server_default="1"))
    op.create_index("ix_jobs_started_at", "jobs", ["started_at"])


def downgrade() -> None:
    op.drop_index("ix_jobs_started_at", "jobs")
    op.drop_column("jobs", "priority")
