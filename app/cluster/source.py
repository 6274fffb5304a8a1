"""Rows that a worker of a cluster reads itself from the store, with its own credentials."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import BinaryIO
from uuid import uuid4

import numpy as np
import polars as pl

from app.cluster import made
from app.cluster.faults import ClusterAway, ColumnsOutOfReach
from app.datasets.columns import Held, defer_some, held
from app.datasets.damage import telling_damage
from app.datasets.keys import COLUMNS, key_of
from app.datasets.parquet_ranges import ranges_of, ranges_of_rows
from app.settings import Settings, get_settings
from app.store.base import StoreAway, Wanted
from app.store.kept import Kept
from app.store.places import SCRATCH, address_of, open_store, open_store_at
from core.arrays import Bytes, Ints
from core.data.fine import FineColumn
from core.data.recoding import encode_finely
from core.data.texts import Column
from core.data.times import TimePart
from core.errors import ScratchFault
from core.memory import READ_AT_A_TIME

LENT = "lent"
"""The folder of those who have no tenant; who breaks off leaves orphans in it, which are swept."""

OUT_OF_REACH = (
    "a worker of the cluster does not find the dataset; it has to reach the same store, a "
    "directory by the same path"
)


@dataclass(frozen=True)
class StoredColumns:
    """The typed columns of a dataset: in which store, and under which key, for one run.

    What a worker fetched of them it keeps for its next shards: neighbours are its own, and most
    share a row group. It is dropped with what makes blocks, by Dask, once that is not needed.
    """

    store: str
    key: str
    run: str = field(default_factory=lambda: uuid4().hex, compare=False, repr=False)
    kept: Kept = field(default_factory=Kept, compare=False, repr=False)

    def source(
        self,
        columns: Sequence[FineColumn],
        parts: Mapping[str, TimePart],
        *,
        is_held: bool = False,
    ) -> StoredTable:
        """Their rows, by what was learnt about them."""
        return StoredTable(self, tuple(columns), dict(parts), is_held)

    @contextmanager
    def columns(self, names: Sequence[str]) -> Iterator[Mapping[str, Column]]:
        """Some of the columns, of which is fetched no more than these."""
        with self._on_disk(partial(ranges_of, set(names))) as file:
            yield defer_some(file, list(dict.fromkeys(names)))

    def read(self, names: Sequence[str], first: int, last: int) -> Iterator[tuple[str, Held]]:
        """These rows of the columns, without more than some millions of cells in memory."""
        step = max(1, READ_AT_A_TIME // max(1, last - first))
        wanted = partial(ranges_of_rows, set(names), first, last)
        with self._on_disk(wanted) as file, telling_damage():
            rows = pl.scan_parquet(file).slice(first, last - first)
            for n in range(0, len(names), step):
                for column in rows.select(names[n : n + step]).collect().iter_columns():
                    yield column.name, held(column)

    def _on_disk(self, wanted: Wanted) -> BinaryIO:
        store = open_store_at(self.store, get_settings().data_dir / SCRATCH)
        try:
            return store.on_disk(self.key, wanted, self.kept)
        except FileNotFoundError as error:
            raise ColumnsOutOfReach(OUT_OF_REACH) from error
        except StoreAway as error:
            raise ClusterAway("a worker of the cluster got no answer from the store") from error
        except ScratchFault as error:
            raise ScratchFault(f"on a worker of the cluster {error}") from error


@dataclass(frozen=True, eq=False)
class StoredTable:
    """The fine codes of stored columns, of which some are `parts` of others, by their names.

    What is read of codes that are `is_held` is kept as it is: others here may take it from there.
    """

    place: StoredColumns
    columns: tuple[FineColumn, ...]
    parts: dict[str, TimePart]
    is_held: bool = False

    def fine(self, first: int, last: int) -> Bytes:
        """(n_features, last - first) fine codes; those that this process made before are here."""
        names = [column.name for column in self.columns]
        codes = made.find(self.place.run, names, first, last, self._encode)
        if self.is_held:
            made.note(self.place.run, names, first, codes)
        return codes

    def _encode(self, first: int, last: int) -> Bytes:
        codes = np.empty((len(self.columns), last - first), dtype=np.uint8)
        wanted: dict[str, list[int]] = {}
        for n, column in enumerate(self.columns):
            wanted.setdefault(self._stored_name(column), []).append(n)
        for name, values in self.place.read(list(wanted), first, last):
            for n in wanted[name]:
                codes[n] = encode_finely(self.columns[n], self._values(self.columns[n], values))
        return codes

    def of(self, features: Ints) -> StoredTable:
        """The same rows of some columns, which alone are then read."""
        return replace(self, columns=tuple(self.columns[n] for n in features.tolist()))

    def _stored_name(self, column: FineColumn) -> str:
        part = self.parts.get(column.name)
        return column.name if part is None else part.column

    def _values(self, column: FineColumn, values: Held) -> Held:
        part = self.parts.get(column.name)
        return values if part is None else part.of(values)


@contextmanager
def lend(typed: BinaryIO, settings: Settings) -> Iterator[StoredColumns]:
    """Put typed columns into the store for as long as workers are to read them there."""
    store, dataset = open_store(settings), f"ds_{uuid4().hex}"
    key = key_of(LENT, dataset, COLUMNS)
    try:
        with store.put(key) as file:
            shutil.copyfileobj(typed, file)
            typed.seek(0)  # where others, too, expect to begin
        yield StoredColumns(address_of(settings), key)
    finally:
        store.delete(key_of(LENT, dataset))
