"""What need not be fetched: folders and row groups in which no row can meet the conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from app.references.moments import moments, naive

Condition = Mapping[str, Any]
Bounds = tuple[Any, Any]
FLOATS = {"FLOAT", "DOUBLE"}
# Whether some value between two bounds can compare as it should.
POSSIBLE: dict[str, Callable[[Any, Any, Any], bool]] = {
    "==": lambda low, high, value: low <= value <= high,
    "!=": lambda low, high, value: not low == high == value,
    "<": lambda low, _, value: low < value,
    "<=": lambda low, _, value: low <= value,
    ">": lambda _, high, value: high > value,
    ">=": lambda _, high, value: high >= value,
    "in": lambda low, high, values: any(low <= value <= high for value in values),
}


def folder_may_match(values: Mapping[str, Any], conditions: Sequence[Condition]) -> bool:
    """Whether the values that a path carries leave any row."""
    known = (one for one in conditions if one["column"] in values)
    return all(_value_may_match(values[one["column"]], one) for one in known)


def _value_may_match(value: Any, one: Condition) -> bool:
    if one["op"] in POSSIBLE and value is not None:
        return _is_possible((value, value), one)
    return bool((value is None) == (one["op"] == "is_null"))


def groups_that_may_match(footer: Any, conditions: Sequence[Condition]) -> list[int]:
    """The row groups of a Parquet file that its statistics do not rule out."""
    groups = range(footer.num_row_groups)
    return [n for n in groups if _group_may_match(footer.row_group(n), conditions)]


def _group_may_match(group: Any, conditions: Sequence[Condition]) -> bool:
    chunks = {(c := group.column(n)).path_in_schema: c for n in range(group.num_columns)}
    known = ((chunks[one["column"]], one) for one in conditions if one["column"] in chunks)
    return all(_chunk_may_match(chunk, group.num_rows, one) for chunk, one in known)


def _chunk_may_match(chunk: Any, n_rows: int, one: Condition) -> bool:
    told = chunk.statistics
    if told is None:
        return True
    n_missing = told.null_count if told.has_null_count else None
    if one["op"] == "is_null":  # statistics count no NaN, which is missing, too
        return chunk.physical_type in FLOATS or n_missing != 0
    if n_missing == n_rows:
        return False
    is_compared = one["op"] in POSSIBLE and told.has_min_max
    return not is_compared or _is_possible((told.min, told.max), one)


def _is_possible(bounds: Bounds, one: Condition) -> bool:
    value = one["value"]
    if isinstance(bounds[0], date):
        bounds, value = (naive(bounds[0]), naive(bounds[1])), moments(value)
    try:
        return POSSIBLE[one["op"]](*bounds, value)
    except TypeError:  # whoever reads the rows says what does not compare
        return True
