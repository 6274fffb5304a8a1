"""Lists in an order that pages keep: a key, the id where keys are equal, and where to go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, literal, tuple_
from sqlalchemy.orm import QueryableAttribute

Expression = ColumnElement[Any] | QueryableAttribute[Any]
Position = tuple[Any, str]
"""The key and the id of the last row of a page."""


@dataclass(frozen=True)
class Order:
    """By a key, up or down; rows of equal keys are ordered by their id."""

    key: Expression
    id: Expression
    descending: bool = False

    def page(self, statement: Select[Any], after: Position | None, limit: int) -> Select[Any]:
        """Some rows after a position, with the key of each as `sort_key`."""
        columns = (self.key, self.id)
        if after is not None:
            position = tuple_(literal(after[0], self.key.type), literal(after[1], self.id.type))
            rows = tuple_(*columns)
            statement = statement.where(rows < position if self.descending else rows > position)
        keys = [column.desc() if self.descending else column.asc() for column in columns]
        return statement.add_columns(self.key.label("sort_key")).order_by(*keys).limit(limit)


Orders = Mapping[str, Order]


def last_position(rows: Sequence[Any], size: int) -> Position | None:
    """Where the page after these rows begins, of which one more than `size` was asked for."""
    if len(rows) <= size:
        return None
    last = rows[size - 1]
    return last["sort_key"], last["id"]
