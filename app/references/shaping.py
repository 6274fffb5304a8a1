"""The part of a table that somebody asks for: rows by conditions, columns, a number of rows."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import polars as pl

from app.datasets.faults import Rejected
from app.references.moments import moments

ROW = "__pith_row__"
COMPARE: dict[str, Callable[[pl.Expr, Any], pl.Expr]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda column, values: column.is_in(values),
    "is_null": lambda column, _: column.is_null(),
    "is_not_null": lambda column, _: column.is_not_null(),
}


def shaped(frame: pl.LazyFrame, source: Mapping[str, Any]) -> pl.LazyFrame:
    """What is asked for of a table."""
    check_known(source, frame.collect_schema().names())
    frame = _filtered(frame, source["filter"])
    if source["columns"] is not None:
        frame = frame.select(source["columns"])
    if source["limit"] is not None:
        return frame.head(source["limit"])
    return frame if source["sample"] is None else _sampled(frame, **source["sample"])


def check_known(source: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse columns that are not there."""
    compared = [comparison["column"] for comparison in source["filter"]]
    unknown = [name for name in (*compared, *(source["columns"] or [])) if name not in known]
    if unknown:
        raise Rejected(f"there is no column {unknown[0]!r}")


def _filtered(frame: pl.LazyFrame, conditions: Sequence[Mapping[str, Any]]) -> pl.LazyFrame:
    if not conditions:
        return frame
    kinds = frame.collect_schema()
    found = (_condition(one, kinds[one["column"]]) for one in conditions)
    return frame.filter(reduce(operator.and_, found))


def _condition(one: Mapping[str, Any], kind: pl.DataType) -> pl.Expr:
    is_dated = isinstance(kind, pl.Date | pl.Datetime)
    value = moments(one["value"]) if is_dated else one["value"]
    return COMPARE[one["op"]](_comparable(pl.col(one["column"]), kind), value)


def _comparable(column: pl.Expr, kind: pl.DataType) -> pl.Expr:
    """NaN is missing, here as everywhere; times are those of UTC."""
    if isinstance(kind, pl.Datetime) and kind.time_zone:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if isinstance(kind, pl.Date | pl.Datetime):
        return column.cast(pl.Datetime("us"))
    return column.fill_nan(None) if kind.is_float() else column


def _sampled(frame: pl.LazyFrame, rows: int, seed: int) -> pl.LazyFrame:
    n_rows = frame.select(pl.len()).collect(engine="streaming").item()
    if rows >= n_rows:
        return frame
    drawn = np.random.default_rng(seed).choice(n_rows, rows, replace=False, shuffle=False)
    chosen = pl.Series(np.sort(drawn).astype(np.uint32)).implode()
    return frame.with_row_index(ROW).filter(pl.col(ROW).is_in(chosen)).drop(ROW)


def wanted_columns(source: Mapping[str, Any]) -> list[str] | None:
    """Those that are asked for or compared; None is all of them."""
    if source["columns"] is None:
        return None
    compared = (one["column"] for one in source["filter"])
    return list(dict.fromkeys((*source["columns"], *compared)))
