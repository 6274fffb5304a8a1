"""Datasets, jobs, events, results and counters."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None
compatible_with = "0001"
branch_labels = None
depends_on = None

DOCUMENT = sa.JSON().with_variant(JSONB(), "postgresql")
TIME = sa.DateTime(timezone=True)


def _lease() -> tuple[sa.Column, ...]:
    return (
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("owner", sa.String(64)),
        sa.Column("lease_until", TIME),
        sa.Column("available_at", TIME, nullable=False),
        sa.Column("enqueued_at", TIME, nullable=False),
    )


def upgrade() -> None:
    op.create_table(
        "counters",
        sa.Column("name", sa.String(32), nullable=False),
        sa.Column("label", sa.String(32), nullable=False),
        sa.Column("value", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("name", "label", name="pk_counters"),
    )
    op.create_table(
        "datasets",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("name", sa.String(255)),
        sa.Column("format", sa.String(16), nullable=False),
        sa.Column("options", DOCUMENT, nullable=False),
        sa.Column("content_key", sa.String(64), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("n_bytes", sa.BigInteger, nullable=False),
        sa.Column("n_rows", sa.BigInteger),
        sa.Column("n_columns", sa.Integer),
        sa.Column("columns", DOCUMENT),
        sa.Column("reason", sa.Text),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("finished_at", TIME),
        *_lease(),
        sa.PrimaryKeyConstraint("id", name="pk_datasets"),
        sa.UniqueConstraint("tenant", "content_key", name="uq_datasets_tenant_content_key"),
    )
    op.create_index("ix_datasets_tenant_created_at_id", "datasets", ["tenant", "created_at", "id"])
    op.create_index("ix_datasets_status_available_at", "datasets", ["status", "available_at"])
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("dataset_id", sa.String(40), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("specification", DOCUMENT, nullable=False),
        sa.Column("labels", DOCUMENT, nullable=False),
        sa.Column("idempotency_key", sa.String(255)),
        sa.Column("request_hash", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("n_events", sa.Integer, nullable=False),
        sa.Column("phase", sa.String(16)),
        sa.Column("progress", sa.Double, nullable=False),
        sa.Column("loglik", sa.Double),
        sa.Column("chosen", DOCUMENT, nullable=False),
        sa.Column("phase_seconds", DOCUMENT, nullable=False),
        sa.Column("error", DOCUMENT),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("started_at", TIME),
        sa.Column("finished_at", TIME),
        sa.Column("cancel_requested_at", TIME),
        sa.Column("deadline_at", TIME, nullable=False),
        *_lease(),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
        sa.UniqueConstraint("tenant", "idempotency_key", name="uq_jobs_tenant_idempotency_key"),
    )
    op.create_index("ix_jobs_tenant_created_at_id", "jobs", ["tenant", "created_at", "id"])
    op.create_index("ix_jobs_status_available_at", "jobs", ["status", "available_at"])
    op.create_index("ix_jobs_dataset_id", "jobs", ["dataset_id"])
    op.create_table(
        "job_events",
        sa.Column("job_id", sa.String(40), nullable=False),
        sa.Column("seq", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("data", DOCUMENT, nullable=False),
        _belongs_to_job("fk_job_events_job_id"),
        sa.PrimaryKeyConstraint("job_id", "seq", name="pk_job_events"),
    )
    op.create_table(
        "job_results",
        sa.Column("job_id", sa.String(40), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("document", DOCUMENT, nullable=False),
        sa.Column("arrays", sa.LargeBinary),
        _belongs_to_job("fk_job_results_job_id"),
        sa.PrimaryKeyConstraint("job_id", name="pk_job_results"),
    )


def _belongs_to_job(name: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=name, ondelete="CASCADE")


def downgrade() -> None:
    for table in ("job_results", "job_events", "jobs", "datasets", "counters"):
        op.drop_table(table)
