"""Who submitted what, and the audit, to which lines are added and nothing else is done."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0013"
down_revision = "0012"
compatible_with = "0004"  # older code adds no lines, and nobody to what it submits
branch_labels = None
depends_on = None

DOCUMENT = sa.JSON().with_variant(JSONB(), "postgresql")
TABLE = "audit_log"
SUBMITTED = ("jobs", "datasets")

# Whoever may delete at all may not delete what is younger than the least that settings allow.
POSTGRES = """
CREATE FUNCTION audit_log_only_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.created_at < statement_timestamp() - interval '30 days' THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'audit_log is append-only';
END
$$;
CREATE TRIGGER audit_log_rows BEFORE UPDATE OR DELETE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION audit_log_only_grows();
CREATE TRIGGER audit_log_whole BEFORE TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION audit_log_only_grows();
CREATE POLICY tenant ON audit_log
    USING (current_setting('pith.tenant', true) IN (tenant, '*'));
CREATE POLICY retention ON audit_log AS RESTRICTIVE FOR DELETE
    USING (current_setting('pith.tenant', true) = '*');
ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_log FORCE ROW LEVEL SECURITY;
"""
SQLITE = (
    """
CREATE TRIGGER audit_log_update BEFORE UPDATE ON audit_log
BEGIN SELECT RAISE(ABORT, 'audit_log is append-only'); END
""",
    """
CREATE TRIGGER audit_log_delete BEFORE DELETE ON audit_log
WHEN OLD.created_at >= strftime('%Y-%m-%d %H:%M:%S', 'now', '-30 days')
BEGIN SELECT RAISE(ABORT, 'audit_log is append-only'); END
""",
)


def upgrade() -> None:
    for table in SUBMITTED:
        op.add_column(table, sa.Column("submitted_by", DOCUMENT))
    op.create_table(
        TABLE,
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("tenant", sa.String(64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", DOCUMENT, nullable=False),
        sa.Column("actor_id", sa.String(255), nullable=False),
        sa.Column("address", sa.String(64)),
        sa.Column("request_id", sa.String(64)),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("object_id", sa.String(40), nullable=False),
        sa.Column("details", DOCUMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit_log"),
    )
    for columns in (["tenant", "created_at", "id"], ["tenant", "object_id"], ["created_at"]):
        op.create_index(f"ix_audit_log_{'_'.join(columns)}", TABLE, columns)
    is_postgres = op.get_bind().dialect.name == "postgresql"
    for statement in (POSTGRES,) if is_postgres else SQLITE:
        op.execute(statement)


def downgrade() -> None:
    op.drop_table(TABLE)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION audit_log_only_grows()")
    for table in SUBMITTED:
        op.drop_column(table, "submitted_by")
