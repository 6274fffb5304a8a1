"""What live jobs have completed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
compatible_with = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "job_checkpoints",
        sa.Column("job_id", sa.String(40), nullable=False),
        sa.Column("phase", sa.String(16), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("arrays", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name="fk_job_checkpoints_job_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "phase", name="pk_job_checkpoints"),
    )
    if op.get_bind().dialect.name == "postgresql":  # as 0004 does for the other tables
        op.execute(
            "CREATE POLICY tenant ON job_checkpoints "
            "USING (current_setting('pith.tenant', true) IN (tenant, '*'))"
        )
        op.execute("ALTER TABLE job_checkpoints ENABLE ROW LEVEL SECURITY")
        op.execute("ALTER TABLE job_checkpoints FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    op.drop_table("job_checkpoints")
