"""Stored columns that were whole once, and cannot be read any more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl
import pyarrow as pa

from app.datasets.faults import DAMAGED, OUT_OF_MEMORY, Damaged, system_error

UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, pa.ArrowException, OSError)


@contextmanager
def telling_damage() -> Iterator[None]:
    """What a reader of columns complains of, unless it is the machine that failed it."""
    try:
        yield
    except UNREADABLE as error:
        if system_error(error) is not None or OUT_OF_MEMORY.search(str(error)):
            raise
        raise Damaged(DAMAGED) from error
