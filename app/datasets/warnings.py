"""What the profile of a table already tells about trouble ahead, before any target is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core.results.selection import TableWarning, WarningCode

MIN_ROWS = 20  # below, every value occurs once by chance
ID_SHARE = 0.95
CONSTANT_SHARE = 0.99
SKEWED_SHARE = 0.95
MIN_LEVELS = 11  # numbers with fewer are levels, not cut
MANY_LEVELS = 50
MANY_CLASSES = 100
MAX_NAMED = 5

Column = Mapping[str, Any]
Test = Callable[[Column, int], bool]


def table_warnings(n_rows: int | None, columns: Sequence[Column]) -> list[TableWarning]:
    """One warning for each kind of trouble, with all columns that have it."""
    if not n_rows:
        return []
    found = [_warn(code, columns, n_rows) for code in TESTS]
    few = [_few_rows(n_rows, len(columns))] if n_rows < len(columns) else []
    return [*(warning for warning in found if warning.columns), *few]


def _warn(code: WarningCode, columns: Sequence[Column], n_rows: int) -> TableWarning:
    has_trouble, (one, many) = TESTS[code]
    names = tuple(column["name"] for column in columns if has_trouble(column, n_rows))
    message = f"{listed(names)} {one if len(names) == 1 else many}."
    return TableWarning(code=code, columns=names, message=message)


def listed(names: Sequence[str]) -> str:
    """The first few by name, the others by number."""
    shown, rest = list(names[:MAX_NAMED]), len(names) - MAX_NAMED
    if rest > 0:
        shown.append(f"{rest:,} more")
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def target_warnings(n_rows: int, columns: Sequence[Column], target: str) -> list[TableWarning]:
    """Why a column is a poor target, which is better known before minutes are spent on it."""
    column = next(column for column in columns if column["name"] == target)
    if _is_id(column, n_rows):
        message = f"{target} has another value in nearly every row, as a key has: nothing tells it."
    elif column["kind"] == "text" and column["levels"] > MANY_CLASSES:
        message = f"{target} is text with {column['levels']:,} different values: each is a class."
    else:
        return []
    return [TableWarning(code="poor_target", columns=(target,), message=message)]


def _few_rows(n_rows: int, n_columns: int) -> TableWarning:
    return TableWarning(
        code="few_rows",
        columns=(),
        message=(
            f"There are fewer rows ({n_rows:,}) than columns ({n_columns:,}): some columns fit any "
            "target by chance, and only strong ones can be told from them."
        ),
    )


def _present(column: Column, n_rows: int) -> int:
    return n_rows - int(column["missing"])


def _is_id(column: Column, n_rows: int) -> bool:
    """Measurements differ in nearly every row too: of numbers only whole ones, all different."""
    present, levels = _present(column, n_rows), column["levels"]
    if present < MIN_ROWS or column["kind"] not in ("integer", "text"):
        return False
    return bool(levels == present or (column["kind"] == "text" and levels >= ID_SHARE * present))


def _is_nearly_constant(column: Column, n_rows: int) -> bool:
    """Of few levels: many in one bin of a range are skewed."""
    return not _is_cut(column) and _fills_one_bin(column, n_rows, CONSTANT_SHARE)


def _is_cut(column: Column) -> bool:
    return column["values"] is None and column["levels"] >= MIN_LEVELS


def _fills_one_bin(column: Column, n_rows: int, share: float) -> bool:
    present = _present(column, n_rows)
    return present >= MIN_ROWS and max(column["counts"], default=0) >= share * present


def _is_mostly_missing(column: Column, n_rows: int) -> bool:
    return 2 * int(column["missing"]) > n_rows


def _has_many_levels(column: Column, n_rows: int) -> bool:
    """Text of which a job merges the rarest; where nearly all differ it is a key."""
    many = column["kind"] == "text" and column["levels"] > MANY_LEVELS
    return many and not _is_id(column, n_rows)


def _is_skewed(column: Column, n_rows: int) -> bool:
    """Nearly all values in one of the bins of equal width, though they differ."""
    return _is_cut(column) and _fills_one_bin(column, n_rows, SKEWED_SHARE)


TESTS: Mapping[WarningCode, tuple[Test, tuple[str, str]]] = {
    "id_like": (
        _is_id,
        (
            "has another value in nearly every row: a key tells nothing about other rows",
            "have another value in nearly every row: keys tell nothing about other rows",
        ),
    ),
    "nearly_constant": (
        _is_nearly_constant,
        ("has nearly always the same value", "have nearly always the same value"),
    ),
    "mostly_missing": (
        _is_mostly_missing,
        ("is missing in most rows", "are missing in most rows"),
    ),
    "many_levels": (
        _has_many_levels,
        (
            "is text with many different values: the rarest are taken together",
            "are text with many different values: the rarest are taken together",
        ),
    ),
    "skewed": (
        _is_skewed,
        (
            "has nearly all values in a small part of its range: cuts of equal width lose them",
            "have nearly all values in a small part of their range: cuts of equal width lose them",
        ),
    ),
}
