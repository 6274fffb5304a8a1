"""What it takes beside the work itself that blocks of a table lie in a file or on a cluster."""

from __future__ import annotations

from typing import Literal

from core.budgets import SHARD_ROWS, rows_of_shard
from core.cost.work import Work
from core.memory import TableShape

EngineName = Literal["memory", "file", "dask"]
"""Of a cluster it is assumed that its workers have as many threads as the run has."""

WRITTEN, READ = 0.25, 0.035
"""For each cell: when it goes to a file, and in every pass over the file."""

LEVEL_ENCODED, NUMBER_ENCODED, FETCHED = 3.0, 40, 1.5
"""For each cell: when a worker of a cluster encodes and packs it, a level or a number, and each
time that one has to read it, since row groups hold rows of other workers' shards, too."""

QUESTION = 750
"""Calls for each question to a cluster and its answers; as many to get a connection."""

GROUP_ROWS = SHARD_ROWS[1] // 2
"""Of a row group, which is read as a whole; it begins where a shard of few columns does."""


def keep(
    shape: TableShape, engine: EngineName, n_passes: float, *, by_columns: bool = False
) -> Work:
    """Make the blocks of a table where they are to lie, and ask them so many times."""
    n_cells = shape.n_rows * shape.n_features
    match engine:
        case "memory":
            return Work()
        case "file":
            return Work(counts=n_cells * (WRITTEN + READ * n_passes))
        case "dask":
            n_numbers = shape.n_rows * shape.n_continuous
            encoded = NUMBER_ENCODED * n_numbers + LEVEL_ENCODED * (n_cells - n_numbers)
            fetched = FETCHED * n_cells * (1 if by_columns else _times_read(shape.n_features))
            return Work(calls=QUESTION * (1 + n_passes), counts=encoded + fetched)


def _times_read(n_features: int) -> float:
    n_rows = rows_of_shard(n_features)
    return 1 if n_rows % GROUP_ROWS == 0 else 1 + GROUP_ROWS / n_rows
