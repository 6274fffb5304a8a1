"""No text reaches a row unchecked: NUL and halves of characters, which Postgres refuses."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Column, String, Table, Text, insert, select

from app.db.base import Base
from app.db.session import Database
from app.db.text import Line, Words, keepable, keepable_json
from tests.app.test_row_security import TABLES, row

BAD, KEPT = "a\x00b\ud800", "a\ufffdb\ufffd"
DOCUMENT, KEPT_DOCUMENT = {BAD: [BAD, {"x": BAD}, 1]}, {KEPT: [KEPT, {"x": KEPT}, 1]}


def is_text(column: Column[Any]) -> bool:
    return isinstance(column.type, Line)


@pytest.mark.parametrize("table", Base.metadata.sorted_tables, ids=lambda table: table.name)
def test_every_column_of_text_is_guarded(table: Table) -> None:
    bare = [c.name for c in table.columns if isinstance(c.type, String | Text)]
    assert bare == []


def test_a_row_takes_any_text(postgres_url: str) -> None:
    database = Database(postgres_url, connections=0)
    with database.write() as session, session.begin():
        for table in TABLES:
            session.execute(insert(table).values(hostile_row(table)))
        for table in TABLES:
            found = session.execute(select(table)).one()._mapping
            for column in table.columns:
                if is_text(column) and not column.foreign_keys:
                    assert found[column.name] == KEPT, column
                elif column.type.python_type is dict:
                    assert found[column.name] == KEPT_DOCUMENT, column


def hostile_row(table: Table) -> dict[str, Any]:
    values = row(table, BAD)
    for column in table.columns:
        if is_text(column):
            values[column.name] = BAD
        elif column.type.python_type is dict:
            values[column.name] = DOCUMENT
    return values


def test_what_can_be_kept_is_kept_as_it_is() -> None:
    whole = "é \U0001f600 \\u0000 \\ud800"
    assert keepable(whole) == whole
    assert keepable_json([whole]) == keepable_json((whole,))
    assert Words.impl is Text
