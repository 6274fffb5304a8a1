"""Where the table of a job lies, and whether a worker's memory holds the rest, before it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.capacity import Capacity
from app.errors import FieldError, Invalid
from app.jobs.specification import (
    EngineChoice,
    Specification,
    compare_of,
    config_of,
    methods_beside,
    parts_of,
)
from core.budgets import is_large, is_spread
from core.config import GsmCpd, Method, SelectionConfig
from core.cost.engines import EngineName
from core.memory import ENGINES, EngineKind, TableShape, estimate_memory
from core.names import exclude_unneeded, unfold_choice

PROCESS_BYTES = 300 << 20
"""What a worker's process takes before any data: interpreter, libraries, compiled kernels."""

MAX_LEVELS = 255
DISCRETE_LEVELS = 10
LONG_TEXT = 256


def engine_for(
    specification: Specification,
    n_rows: int,
    columns: Sequence[Mapping[str, Any]],
    capacity: Capacity,
) -> EngineName:
    """The engine that is asked for, or the first that has room: memory, a cluster, a file.

    What would not lie on a cluster stays in the worker, whoever asked for one. A job that fits in
    none of them is refused, with both figures.
    """
    needed, blocks = 0, has_blocks(specification, n_rows, columns)
    for engine in _candidates(specification.engine, capacity, has_blocks=blocks):
        needed = needed_memory(specification, n_rows, columns, engine)
        if needed <= capacity.memory_bytes:
            return engine
    detail = (
        f"the job needs about {needed / 2**30:.1f} GiB of memory and a worker has "
        f"{capacity.memory_bytes / 2**30:.1f} GiB; use fewer columns or rows, lower ranks or "
        "fewer models"
    )
    raise Invalid(detail, code="insufficient_memory", errors=[FieldError("/dataset_id", detail)])


def _candidates(
    asked: EngineChoice, capacity: Capacity, *, has_blocks: bool
) -> Sequence[EngineName]:
    if asked == "dask" and not capacity.has_cluster:
        detail = "engine dask is not to be had: no cluster is configured (PITH_DASK_SCHEDULER)"
        raise Invalid(detail, code="no_cluster", errors=[FieldError("/engine", detail)])
    if asked in ("auto", "dask") and not has_blocks:
        return ENGINES
    if asked != "auto":
        return (asked,)
    return ("memory", "dask") if capacity.has_cluster else ENGINES


def has_blocks(
    specification: Specification, n_rows: int, columns: Sequence[Mapping[str, Any]]
) -> bool:
    """Whether the table is cut into blocks, which are all that a cluster is asked to hold."""
    shape, beside = table_of(specification, n_rows, columns), methods_beside(specification)
    methods = (config_of(specification).method, *beside)
    return any(_asks_blocks(method, shape) for method in methods)


def _asks_blocks(method: Method, shape: TableShape) -> bool:
    is_cut = is_spread if isinstance(method, GsmCpd) else is_large
    return is_cut(shape.n_rows, shape.n_features)


def needed_memory(
    specification: Specification,
    n_rows: int,
    columns: Sequence[Mapping[str, Any]],
    engine: EngineName = "memory",
) -> int:
    """Bytes that a worker's process holds at the job's peak; beside a cluster, as beside a file."""
    config = config_of(specification)
    shape = table_of(specification, n_rows, columns)
    kind: EngineKind = "memory" if engine == "memory" else "file"
    resamples = specification.stability is not None
    compare = compare_of(specification)
    return PROCESS_BYTES + estimate_memory(shape, config, kind, compare, resamples=resamples)


def table_of(
    specification: Specification, n_rows: int, columns: Sequence[Mapping[str, Any]]
) -> TableShape:
    """The table of a job, from the profile of its dataset."""
    config, beside = config_of(specification), methods_beside(specification)
    return shape_of(config, specification.target, n_rows, columns, beside)


def shape_of(
    config: SelectionConfig,
    target: str,
    n_rows: int,
    columns: Sequence[Mapping[str, Any]],
    beside: Sequence[Method] = (),
) -> TableShape:
    """The table that will be encoded for a method and those `beside` it."""
    bins = config.discretize.bins
    config = exclude_unneeded(config, [column["name"] for column in columns], target, beside)
    excluded = set(config.columns.exclude)
    used = [column for column in columns if column["name"] not in excluded]
    texts = [column for column in used if column["kind"] == "text"]
    parts = parts_of(used, target, config.weight_column)
    held = {name: c for c in used for name in parts.get(c["name"], [c["name"]])}
    levels = {name: _levels(column, bins) for name, column in held.items()}
    unfolded = exclude_unneeded(unfold_choice(config, parts), held, target, beside)
    others = {target, config.weight_column, *unfolded.columns.exclude}
    searched = [name for name in levels if name not in others]
    return TableShape(
        n_rows=n_rows,
        n_levels=[levels[name] for name in searched],
        n_classes=levels.get(target, 2),
        n_text=len(texts),
        n_texts=sum(int(column["levels"]) for column in texts),
        text_bytes=sum(_text_bytes(column) for column in texts),
        n_continuous=sum(_is_continuous(held[name]) for name in searched),
        n_moments=sum(held[name]["kind"] == "time" for name in searched),
        has_weights=config.weight_column is not None,
        is_partial=config.weight_column is not None or _has_gaps(columns, target),
    )


def _has_gaps(columns: Sequence[Mapping[str, Any]], name: str) -> bool:
    return any(column.get("missing", 0) > 0 for column in columns if column["name"] == name)


def _text_bytes(column: Mapping[str, Any]) -> int:
    """What the different texts take; datasets read by older versions do not say it."""
    found: int = column.get("text_bytes", LONG_TEXT * int(column["levels"]))
    return found


def _levels(column: Mapping[str, Any], bins: int) -> int:
    return bins if _is_continuous(column) else min(max(1, int(column["levels"])), MAX_LEVELS)


def _is_continuous(column: Mapping[str, Any]) -> bool:
    return column["kind"] not in ("text", "boolean") and int(column["levels"]) > DISCRETE_LEVELS
