"""Made tables as the service keeps them: a Parquet file of typed columns, which everybody reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow.parquet import ParquetWriter

from app.cluster.source import StoredColumns
from app.datasets.parquet_groups import GROUP_ROWS
from benchmarks.plan import Size
from benchmarks.synthetic import N_CLASSES, N_STATES
from benchmarks.whole import LABEL
from core.arrays import Bytes, Floats, Ints


def write_table(place: Path, size: Size) -> None:
    """Columns that each tell a little about a state, as the label does; a row group at a time."""
    names = [*(f"x{n}" for n in range(size.n_features)), LABEL]
    schema = pa.schema([(name, pa.int64()) for name in names])
    cuts = [_cuts(n, size.n_levels) for n in range(size.n_features)]
    with ParquetWriter(place, schema, compression="zstd", write_statistics=False) as writer:
        for first in range(0, size.n_rows, GROUP_ROWS):
            rng = np.random.default_rng([0, first])
            states = rng.integers(0, N_STATES, min(GROUP_ROWS, size.n_rows - first))
            codes: list[Bytes | Ints] = [_codes(of_column, states, rng) for of_column in cuts]
            codes.append(states % N_CLASSES)
            arrays = [pa.array(column.astype(np.int64)) for column in codes]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def stored(place: Path) -> StoredColumns:
    """As processes elsewhere find the same columns."""
    return StoredColumns(place.parent.absolute().as_uri(), place.name)


def _cuts(n: int, n_levels: int) -> Floats:
    """(N_STATES, n_levels) where the levels of a column end, in each state."""
    rng = np.random.default_rng([1, n])
    shares, strength = rng.dirichlet(np.full(n_levels, 0.7), N_STATES), rng.beta(2, 6)
    ends: Floats = (strength * shares + (1 - strength) * shares.mean(axis=0)).cumsum(axis=1)
    return ends


def _codes(cuts: Floats, states: Ints, rng: np.random.Generator) -> Bytes:
    codes, drawn = np.zeros(len(states), dtype=np.uint8), rng.random(len(states), dtype=np.float32)
    for ends in cuts.T[:-1].astype(np.float32):
        codes += drawn > ends[states]
    return codes
