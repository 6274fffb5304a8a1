"""A reference, read: typed columns, their profile, and for ever what they were read from."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from app.datasets import tables
from app.datasets.formats import CsvOptions, Format
from app.datasets.keys import COLUMNS
from app.datasets.limits import Limits
from app.references.batches import scan_batches
from app.references.buckets import find, open_bucket
from app.references.confines import Confines
from app.references.downloads import download
from app.references.files import format_for, likely_format, scan_objects, without_query
from app.references.fingerprint import fingerprint
from app.references.lake import open_table
from app.references.postgres import open_rows
from app.references.progress import Progress
from app.references.shaping import shaped

Frame = tuple[pl.LazyFrame, set[str], Format]
# What a database has done already.
DONE: dict[str, Any] = {"columns": None, "filter": [], "limit": None}


def read(
    connection: dict[str, Any], source: dict[str, Any], directory: Path, limits: Limits
) -> dict[str, Any]:
    """Write the columns; answer the rows, the profiles and the origin."""
    reading = _Reading(connection, source, directory, limits, Progress(directory))
    try:
        frame, as_text, fmt = reading.open()
        rest = DONE if connection["type"] == "postgres" else {}
        frame = shaped(frame, {**source, **rest})
        tables.check_names(frame.collect_schema().names(), limits)
        file = tables.Source(directory, fmt, CsvOptions(), directory)
        found = tables.settle(frame, as_text, file, directory / COLUMNS, limits)
    except tables.UNREADABLE as error:
        raise tables.verdict(likely_format(source), error, limits) from error
    digest, n_bytes = fingerprint(directory / COLUMNS), reading.progress.n_bytes
    return {**found, "origin": reading.origin, "sha256": digest, "n_bytes": n_bytes}


@dataclass
class _Reading:
    """One reference on its way; `origin` is what will be known of it for ever."""

    connection: dict[str, Any]
    source: dict[str, Any]
    directory: Path
    limits: Limits
    progress: Progress
    origin: dict[str, Any] = field(
        default_factory=lambda: {"read_at": datetime.now(UTC).isoformat()}
    )

    def open(self) -> Frame:
        if self.connection["type"] == "postgres":
            return self._rows()
        if self.connection["type"] == "https":
            return self._download()
        return self._objects() if self.source["table"] is None else self._table()

    def _rows(self) -> Frame:
        self.origin["query"] = self.source["query"] or self.source["table"]
        most, expect = self.limits.max_rows, self.progress.expect
        with open_rows(self.connection, self.source, most, expect) as rows:
            frame = scan_batches(rows, self.directory, self.limits, self.progress.add_rows)
        return frame, set(), Format.ARROW_STREAM

    def _table(self) -> Frame:
        confines = Confines(open_bucket(self.connection), self.connection)
        table = open_table(confines, self.source)
        self.origin["snapshot"] = table.snapshot
        self.progress.expect(table.n_rows)
        with table.open() as batches:
            frame = scan_batches(batches, self.directory, self.limits, self.progress.add_rows)
        return frame, set(), Format.ARROW_STREAM

    def _objects(self) -> Frame:
        source, bucket = self.source, open_bucket(self.connection)
        found = find(bucket, self.connection, source["path"])
        self.origin["objects"] = [one.to_json() for one in found]
        frame, as_text = scan_objects(
            bucket, found, source, self.directory, self.limits, self.progress
        )
        return frame, as_text, format_for(found[0].path, source["format"])

    def _download(self) -> Frame:
        file, path = self.directory / "download", self.source["path"]
        most = self.limits.scratch_bytes
        found = download(self.connection, path, file, most, self.progress.add)
        self.origin["objects"] = [found.to_json()]
        fmt = format_for(without_query(path), self.source["format"])
        csv = tables.Source(file, fmt, CsvOptions(), self.directory)
        frame, as_text = tables.scan(csv, self.limits)
        return frame, as_text, fmt
