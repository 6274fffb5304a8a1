"""What Postgres itself keeps apart, whatever the statement says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import (
    Boolean,
    Float,
    Integer,
    LargeBinary,
    Table,
    delete,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.exc import ProgrammingError

from app.audit.models import AuditLine
from app.db.base import Base, Utc
from app.db.session import Database
from app.db.tenants import NOBODY, TenantDatabase
from app.db.text import Line
from app.jobs import service  # noqa: F401  registers all tables
from app.keys import models  # noqa: F401

TABLES = [table for table in Base.metadata.sorted_tables if "tenant" in table.columns]
# Lines of the audit are changed by nobody: see test_audit.py.
CHANGING = [table for table in TABLES if table is not AuditLine.__table__]
VALUES: list[tuple[Any, Any]] = [
    (Line, "x"),
    (Float, 1),
    (Integer, 1),
    (Boolean, True),
    (Utc, datetime.now(UTC)),
    (LargeBinary, b"x"),
]


@pytest.fixture
def url(postgres_url: str) -> str:
    """Two tenants with a row in every table."""
    database = Database(postgres_url, connections=0)
    with database.write() as session, session.begin():
        for tenant in ("a", "b"):
            for table in TABLES:
                session.execute(insert(table).values(row(table, tenant)))
    return postgres_url


def row(table: Table, tenant: str) -> dict[str, Any]:
    """Something in every column that wants it; ids are the tenant's name."""
    values: dict[str, Any] = {}
    for column in table.columns:
        if not column.nullable:
            values[column.name] = next(
                (value for kind, value in VALUES if isinstance(column.type, kind)), {}
            )
        if (column.primary_key or column.foreign_keys) and isinstance(column.type, Line):
            values[column.name] = tenant
    return {**values, "tenant": tenant}


@pytest.fixture
def tenants(url: str) -> Iterator[TenantDatabase]:
    database = TenantDatabase(url, connections=2)
    yield database
    database.dispose()


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_statement_without_where_finds_ones_own(tenants: TenantDatabase, table: Table) -> None:
    everything = select(table.c.tenant)
    for tenant in ("a", "b", "a"):
        with tenants.read(tenant) as connection:
            assert connection.execute(everything).scalars().all() == [tenant]
        with tenants.write(tenant) as session:
            for _ in range(2):  # each transaction anew
                with session.begin():
                    assert session.execute(everything).scalars().all() == [tenant]
    with tenants.read(NOBODY) as connection:
        assert connection.execute(everything).all() == []


@pytest.mark.parametrize("table", CHANGING, ids=lambda table: table.name)
def test_nor_does_it_change_anything_else(url: str, tenants: TenantDatabase, table: Table) -> None:
    with tenants.write("a") as session:
        with session.begin():
            session.execute(update(table).values(tenant="a"))
        with pytest.raises(ProgrammingError, match="row-level security"), session.begin():
            session.execute(update(table).values(tenant="b"))
        with pytest.raises(ProgrammingError, match="row-level security"), session.begin():
            session.execute(insert(table).values(row(table, "c")))
        with session.begin():
            session.execute(delete(table))
    with Database(url, connections=0).read() as connection:
        assert connection.execute(select(table.c.tenant)).scalars().all() == ["b"]


def test_every_table_of_tenants_is_guarded_from_its_owner_too(postgres_url: str) -> None:
    question = "SELECT relname FROM pg_class WHERE relrowsecurity AND relforcerowsecurity"
    with Database(postgres_url, connections=0).read() as connection:
        guarded = set(connection.execute(text(question)).scalars())
    assert guarded == {table.name for table in TABLES}
