"""Files that a reference names, as one lazy frame: only what is needed of them is on the disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl
from obstore.store import ObjectStore

from app.connections.paths import partitions
from app.datasets import tables
from app.datasets.faults import Rejected
from app.datasets.formats import CsvOptions, Format, format_of
from app.datasets.limits import Limits
from app.references.buckets import Found, Tell
from app.references.fetching import bring
from app.references.parquet import scan_parquet
from app.references.progress import Progress
from app.references.pruning import folder_may_match

NO_ROWS = "no row meets the conditions"
MAX_DIGITS = 18


def format_for(path: str, given: str | None) -> Format:
    """How a file is encoded, as somebody says or its name does."""
    found = Format(given) if given else format_of("", path)
    if found is None:
        raise Rejected(f"{path!r} is not named like a CSV, Parquet or Arrow file; name the format")
    return found


def likely_format(source: Mapping[str, Any]) -> Format:
    """As far as a source itself tells; tables lie in Parquet."""
    named = format_of("", without_query(source["path"] or ""))
    return Format(source["format"] or named or Format.PARQUET)


def without_query(address: str) -> str:
    """The part of an address that names a file."""
    return address.partition("?")[0]


def scan_objects(
    bucket: ObjectStore,
    found: Sequence[Found],
    source: dict[str, Any],
    directory: Path,
    limits: Limits,
    progress: Progress,
) -> tuple[pl.LazyFrame, set[str]]:
    """Every object, with the values that its folders carry; and columns that only text can hold."""
    needed = [one for one in found if folder_may_match(carried(one.path), source["filter"])]
    if not needed:
        raise Rejected(NO_ROWS)
    frames, as_text, n_bytes = [], set(), 0
    progress.expect(sum(one.size for one in needed))
    for number, one in enumerate(needed):
        folder = directory / f"part-{number}"
        folder.mkdir()
        frame, texts = _scan(bucket, one, source, folder, limits, progress.add)
        values = ((name, pl.lit(value)) for name, value in carried(one.path).items())
        frames.append(frame.with_columns(literal.alias(name) for name, literal in values))
        as_text |= texts
        n_bytes += one.size
        progress.reach(n_bytes)
    return pl.concat(frames, how="diagonal_relaxed"), as_text


def _scan(
    bucket: ObjectStore,
    found: Found,
    source: dict[str, Any],
    folder: Path,
    limits: Limits,
    tell: Tell,
) -> tuple[pl.LazyFrame, set[str]]:
    if found.size == 0:
        raise Rejected(f"{found.path!r} is empty")
    fmt = format_for(found.path, source["format"])
    if fmt is Format.PARQUET:
        return scan_parquet(bucket, found, source, folder, limits, tell), set()
    bring(bucket, found, folder / "file", [(0, found.size)], tell)
    return tables.scan(tables.Source(folder / "file", fmt, CsvOptions(), folder), limits)


def carried(path: str) -> dict[str, int | str | None]:
    """What the folders say goes before what the file does: it decides which files are read."""
    return {name: _parsed(value) for name, value in partitions(path).items()}


def _parsed(value: str) -> int | str | None:
    if value == "__HIVE_DEFAULT_PARTITION__":
        return None
    is_number = value.removeprefix("-").isdecimal() and len(value) < MAX_DIGITS
    return int(value) if is_number else unquote(value)
