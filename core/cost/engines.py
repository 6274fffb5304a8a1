"""What it takes beside the work itself that blocks of a table lie in a file or on a cluster."""

from __future__ import annotations

from typing import Literal

from core.budgets import is_spread
from core.cost.work import Work
from core.memory import TableShape

EngineName = Literal["memory", "file", "dask"]
"""Of a cluster it is assumed that its workers have as many threads as the run has."""

WRITTEN, READ = 0.25, 0.035
"""For each cell: when it goes to a file, and in every pass over the file."""

LEVEL_ENCODED, NUMBER_ENCODED = 10, 55
"""For each cell, a level or a number: when workers of a cluster fetch it to learn from its column,
and again to encode its row."""

QUESTION = 750
"""Calls for each question to a cluster and its answers; as many to get a connection."""


def encode_there(shape: TableShape, engine: EngineName) -> Work:
    """What it takes beside encoding itself that a cluster does it."""
    if engine != "dask" or not is_spread(shape.n_rows, shape.n_features):
        return Work()
    n_levels = shape.n_features - shape.n_continuous
    per_row = NUMBER_ENCODED * shape.n_continuous + LEVEL_ENCODED * n_levels
    return Work(calls=QUESTION, counts=shape.n_rows * per_row)


def keep(shape: TableShape, engine: EngineName, n_passes: float) -> Work:
    """Make the blocks of a table where they are to lie, and ask them so many times."""
    n_cells = shape.n_rows * shape.n_features
    match engine:
        case "memory":
            return Work()
        case "file":
            return Work(counts=n_cells * (WRITTEN + READ * n_passes))
        case "dask":
            return Work(calls=QUESTION * (1 + n_passes))
