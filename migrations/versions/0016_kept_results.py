"""Jobs that were ended early with what was done."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
compatible_with = "0004"  # older code asks for no keep, and knows of none that is partial
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jobs", sa.Column("keep_requested_at", sa.DateTime(timezone=True)))
    whole = sa.Column("partial", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("jobs", whole)


def downgrade() -> None:
    op.drop_column("jobs", "partial")
    op.drop_column("jobs", "keep_requested_at")
