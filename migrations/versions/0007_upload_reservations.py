"""Room that is kept for uploads under way."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
compatible_with = "0004"  # older code reserves nothing, and counts datasets alone
branch_labels = None
depends_on = None

TABLE = "upload_reservations"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("n_bytes", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{TABLE}"),
    )
    op.create_index(f"ix_{TABLE}_tenant", TABLE, ["tenant"])
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            f"CREATE POLICY tenant ON {TABLE} "
            "USING (current_setting('pith.tenant', true) IN (tenant, '*'))"
        )
        op.execute(f"ALTER TABLE {TABLE} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {TABLE} FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    op.drop_table(TABLE)
