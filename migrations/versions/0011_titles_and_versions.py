"""Titles of jobs, labels of datasets, and which dataset another is a new version of."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0010"
compatible_with = "0004"  # older code leaves the new columns as they are
branch_labels = None
depends_on = None

DOCUMENT = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    op.add_column("jobs", sa.Column("title", sa.String(255)))
    op.add_column(
        "datasets", sa.Column("version", sa.Integer(), nullable=False, server_default="1")
    )
    op.add_column("datasets", sa.Column("previous_id", sa.String(40)))
    op.add_column("datasets", sa.Column("labels", DOCUMENT, nullable=False, server_default="{}"))


def downgrade() -> None:
    for column in ("labels", "previous_id", "version"):
        op.drop_column("datasets", column)
    op.drop_column("jobs", "title")
