"""What a caller may refer to, and which part of it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StringConstraints,
    model_validator,
)

from app.connections.definitions import Name as ConnectionName
from app.datasets.formats import Format
from app.jobs.methods import Strict

MAX_QUERY = 100_000
MAX_VALUES = 10_000
Text = Annotated[str, StringConstraints(max_length=1024, pattern=r"^[^\x00]*$")]
Column = Annotated[str, StringConstraints(min_length=1, max_length=1024, pattern=r"^[^\x00]+$")]
Value = StrictBool | StrictInt | StrictFloat | Text
Operator = Literal["==", "!=", "<", "<=", ">", ">=", "in", "is_null", "is_not_null"]
MAX_DIGITS = 19
VALUELESS = {"is_null", "is_not_null"}


def _counted(value: object) -> object:
    """Digits as the number that they are."""
    is_written = isinstance(value, str) and value.isdecimal() and len(value) <= MAX_DIGITS
    return int(str(value)) if is_written else value


Version = Annotated[StrictInt, Field(ge=0, lt=2**63), BeforeValidator(_counted)]


class Condition(Strict):
    """A condition on one column."""

    column: Column
    op: Operator
    value: Value | Annotated[list[Value], Field(max_length=MAX_VALUES)] | None = None

    @model_validator(mode="after")
    def _check_value(self) -> Self:
        if (self.value is None) != (self.op in VALUELESS):
            raise ValueError(f"{self.op} takes {'no' if self.op in VALUELESS else 'a'} value")
        if isinstance(self.value, list) != (self.op == "in"):
            raise ValueError("a list of values is for `in`, and `in` for a list")
        return self


class Sample(Strict):
    """Rows drawn at random, in their order."""

    rows: Annotated[StrictInt, Field(ge=1)]
    seed: Annotated[StrictInt, Field(ge=0, lt=2**63)] = 0


class Source(Strict):
    """Data where it lies: a path, a table or a query of a connection."""

    connection: ConnectionName
    path: Annotated[str, StringConstraints(min_length=1, max_length=1024)] | None = Field(
        default=None,
        description="Files: `sales/2026/*.parquet`, `**` for any depth; folders like `year=2026` "
        "become columns. Of https, an address.",
        examples=["sales/2026/*.parquet"],
    )
    table: Annotated[str, StringConstraints(min_length=1, max_length=1024)] | None = Field(
        default=None,
        description="The folder of a Delta or Iceberg table, or a table of Postgres.",
    )
    version: Version | None = Field(
        default=None,
        description="Delta's version or Iceberg's snapshot; else the newest. Its digits may be "
        "text, for callers whose numbers end before those of snapshots do.",
    )
    query: Annotated[str, StringConstraints(min_length=1, max_length=MAX_QUERY)] | None = Field(
        default=None, description="One SELECT, for connections that allow queries."
    )
    format: Format | None = Field(default=None, description="Of files; else by their extension.")
    columns: Annotated[list[Column], Field(min_length=2)] | None = Field(
        default=None, description="The only ones that are read."
    )
    filter: Annotated[list[Condition], Field(max_length=100)] = Field(
        default=[], description="Rows for which all of these hold."
    )
    limit: Annotated[StrictInt, Field(ge=1)] | None = Field(
        default=None, description="Rows, at most."
    )
    sample: Sample | None = None

    @property
    def named(self) -> str:
        """Which of them it names: the field that is at fault where nothing can be read."""
        return "path" if self.path else "table" if self.table else "query"

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        given = [name for name in ("path", "table", "query") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("name exactly one of path, table and query")
        if self.version is not None and self.table is None:
            raise ValueError("only a table has versions")
        if self.sample is not None and self.limit is not None:
            raise ValueError("take either the first rows or a sample")
        return self
