"""Some columns of a dataset, a few rows at a time: memory does not grow with the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from app.datasets.columns import held
from app.datasets.damage import telling_damage
from core.arrays import MISSING
from core.data.recoding import encode_with
from core.data.times import time_part
from core.results.selection import Derived, EncodedColumn

CELLS_AT_A_TIME = 1_000_000
BUFFER_BYTES = 1 << 20

Batches = Iterator[pa.RecordBatch]


class Extract:
    """The named columns of a file, in their order."""

    def __init__(self, file: BinaryIO, names: Sequence[str]) -> None:
        self._file = file
        with telling_damage():
            self._table = pq.ParquetFile(file, pre_buffer=False, buffer_size=BUFFER_BYTES)
        whole = self._table.schema_arrow
        self.schema = pa.schema([whole.field(name) for name in names])

    def batches(self) -> Batches:
        """All rows; the file is closed behind the last one."""
        names = self.schema.names
        rows = max(1, CELLS_AT_A_TIME // max(len(names), 1))
        with self._file, telling_damage():
            for batch in self._table.iter_batches(rows, columns=names, use_threads=False):
                yield batch.select(names)


def names_of(file: BinaryIO) -> list[str]:
    """Every column of a file."""
    with telling_damage():
        names: list[str] = pq.read_schema(file).names
    return names


@dataclass(frozen=True)
class CodedFeature:
    """A feature as a job had it encoded; `derived` where it is a part of a time."""

    learnt: EncodedColumn
    derived: Derived | None = None

    @property
    def source(self) -> str:
        """The column it is made of."""
        return self.derived.source_column if self.derived else self.learnt.name

    def codes(self, values: pl.Series) -> pa.Array:
        """Codes of some rows; null is a missing value."""
        column = held(values)
        if self.derived is not None:
            since = np.datetime64(self.derived.since or "NaT", "us")
            column = time_part(column, self.derived.part, since)
        codes = encode_with(self.learnt, column)
        return pa.array(codes, mask=np.equal(codes, MISSING))


def with_codes(features: Sequence[CodedFeature], schema: pa.Schema) -> list[CodedFeature]:
    """Those that have codes: a target that is a time was counted in days from a forgotten one."""
    times = {field.name for field in schema if pa.types.is_temporal(field.type)}
    return [f for f in features if f.derived is not None or f.source not in times]


def coded_schema(features: Sequence[CodedFeature]) -> pa.Schema:
    """The features as codes."""
    return pa.schema([(feature.learnt.name, pa.uint8()) for feature in features])


def coded(batches: Batches, features: Sequence[CodedFeature]) -> Batches:
    """The codes that a job computed with."""
    for batch in batches:
        frame = pl.DataFrame(batch)
        columns = [feature.codes(frame[feature.source]) for feature in features]
        yield pa.RecordBatch.from_arrays(columns, schema=coded_schema(features))
