"""Which trace a job and what is told of it belong to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"
compatible_with = "0004"  # older code leaves the new columns empty
branch_labels = None
depends_on = None

DOCUMENT = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
TABLES = ("jobs", "webhook_deliveries")


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("trace", DOCUMENT))


def downgrade() -> None:
    for table in TABLES:
        op.drop_column(table, "trace")
