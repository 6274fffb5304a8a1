"""What a job will take: how fast a worker is, and how long a job still has to go."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0015"
down_revision = "0014"
compatible_with = "0004"  # older code leaves the new column empty, and the table alone
branch_labels = None
depends_on = None

DOCUMENT = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
TABLE = "worker_speed"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("seconds_left", sa.Double))
    op.create_table(
        TABLE,
        sa.Column("id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("nanoseconds", DOCUMENT, nullable=False),
        sa.Column("n_threads", sa.Integer, nullable=False),
        sa.Column("measured_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_worker_speed"),
    )


def downgrade() -> None:
    op.drop_table(TABLE)
    op.drop_column("jobs", "seconds_left")
