"""Whether a job fits into a worker's memory, told before it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.errors import FieldError, Invalid
from app.jobs.specification import Specification, config_of, parts_of
from core.memory import TableShape, estimate_memory

PROCESS_BYTES = 300 << 20
"""What a worker's process takes before any data: interpreter, libraries, compiled kernels."""

MAX_LEVELS = 255
DISCRETE_LEVELS = 10
LONG_TEXT = 256


def check_memory(
    specification: Specification, n_rows: int, columns: Sequence[Mapping[str, Any]], available: int
) -> None:
    """Refuse a job that cannot fit, with both figures."""
    shape = shape_of(specification, n_rows, columns)
    needed = PROCESS_BYTES + estimate_memory(shape, config_of(specification))
    if needed > available:
        detail = (
            f"the job needs about {needed / 2**30:.1f} GiB of memory and a worker has "
            f"{available / 2**30:.1f} GiB; use fewer columns or rows, lower ranks or fewer models"
        )
        errors = [FieldError("/dataset_id", detail)]
        raise Invalid(detail, code="insufficient_memory", errors=errors)


def shape_of(
    specification: Specification, n_rows: int, columns: Sequence[Mapping[str, Any]]
) -> TableShape:
    """The table that the job will encode, from the profile of the dataset."""
    bins = specification.discretize.bins
    excluded = set(specification.columns.exclude)
    used = [column for column in columns if column["name"] not in excluded]
    texts = [column for column in used if column["kind"] == "text"]
    parts = parts_of(specification, used)
    levels = {
        name: _levels(column, bins)
        for column in used
        for name in parts.get(column["name"], [column["name"]])
    }
    others = {specification.target, specification.weight_column}
    return TableShape(
        n_rows=n_rows,
        n_levels=[n for name, n in levels.items() if name not in others],
        n_classes=levels.get(specification.target, 2),
        n_text=len(texts),
        n_texts=sum(int(column["levels"]) for column in texts),
        text_bytes=sum(_text_bytes(column) for column in texts),
    )


def _text_bytes(column: Mapping[str, Any]) -> int:
    """What the different texts take; datasets read by older versions do not say it."""
    found: int = column.get("text_bytes", LONG_TEXT * int(column["levels"]))
    return found


def _levels(column: Mapping[str, Any], bins: int) -> int:
    found = max(1, int(column["levels"]))
    if column["kind"] in ("text", "boolean"):
        return min(found, MAX_LEVELS)
    return found if found <= DISCRETE_LEVELS else bins
