"""Datasets by reference: what was asked for, what was read for it, and how far reading is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0010"
down_revision = "0009"
compatible_with = "0004"  # older code leaves the new columns as they are
branch_labels = None
depends_on = None

DOCUMENT = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    op.add_column("datasets", sa.Column("source", DOCUMENT))
    op.add_column("datasets", sa.Column("origin", DOCUMENT))
    op.add_column("datasets", sa.Column("progress", sa.Double()))


def downgrade() -> None:
    for column in ("progress", "origin", "source"):
        op.drop_column("datasets", column)
