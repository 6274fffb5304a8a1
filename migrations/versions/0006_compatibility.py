"""Which code works on this schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
compatible_with = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "compatibility",
        sa.Column("oldest", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("oldest", name="pk_compatibility"),
    )


def downgrade() -> None:
    op.drop_table("compatibility")
