"""Webhooks and what is to be delivered to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0008"
down_revision = "0007"
compatible_with = "0004"
branch_labels = None
depends_on = None

DOCUMENT = sa.JSON().with_variant(JSONB(), "postgresql")
TIME = sa.DateTime(timezone=True)
TABLES = ("webhooks", "webhook_deliveries")


def upgrade() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("url", sa.String(1024), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("events", DOCUMENT, nullable=False),
        sa.Column("labels", DOCUMENT, nullable=False),
        sa.Column("named_at", TIME),
        sa.Column("secret", sa.String(64), nullable=False),
        sa.Column("previous_secret", sa.String(64)),
        sa.Column("previous_until", TIME),
        sa.Column("n_failures", sa.Integer, nullable=False),
        sa.Column("failing_since", TIME),
        sa.Column("off_reason", sa.Text),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("owner", sa.String(64)),
        sa.Column("lease_until", TIME),
        sa.Column("available_at", TIME, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
        sa.UniqueConstraint("tenant", "url", name="uq_webhooks_tenant_url"),
    )
    op.create_index("ix_webhooks_status_available_at", "webhooks", ["status", "available_at"])
    _create_deliveries()
    if op.get_bind().dialect.name == "postgresql":  # as 0004 does for the other tables
        for table in TABLES:
            op.execute(
                f"CREATE POLICY tenant ON {table} "
                "USING (current_setting('pith.tenant', true) IN (tenant, '*'))"
            )
            op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
            op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def _create_deliveries() -> None:
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("webhook_id", sa.String(40), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("event_id", sa.String(40), nullable=False),
        sa.Column("event", sa.String(32), nullable=False),
        sa.Column("subject", sa.String(40), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_at", TIME, nullable=False),
        sa.Column("pending_since", TIME, nullable=False),
        sa.Column("last_status", sa.Integer),
        sa.Column("last_error", sa.Text),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("tried_at", TIME),
        sa.Column("delivered_at", TIME),
        sa.ForeignKeyConstraint(
            ["webhook_id"],
            ["webhooks.id"],
            name="fk_webhook_deliveries_webhook_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_deliveries"),
    )
    for columns in (
        ["webhook_id", "status", "next_at"],
        ["webhook_id", "subject", "status"],
        ["webhook_id", "created_at", "id"],
        ["status", "pending_since"],
    ):
        name = f"ix_webhook_deliveries_{'_'.join(columns)}"
        op.create_index(name, "webhook_deliveries", columns)


def downgrade() -> None:
    op.drop_table("webhook_deliveries")
    op.drop_table("webhooks")
