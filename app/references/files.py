"""Files that a reference names, as one lazy frame: only what is needed of them is on the disk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from obstore.store import ObjectStore

from app.connections.paths import partitions
from app.datasets import tables
from app.datasets.faults import Rejected
from app.datasets.formats import CsvOptions, Format, format_of
from app.datasets.limits import Limits
from app.datasets.parquet_ranges import ranges_of
from app.references.buckets import Found, check_unchanged, open_object
from app.references.shaping import wanted_columns
from app.store.fetching import fetch

Tell = Callable[[int], None]


def format_for(path: str, given: str | None) -> Format:
    """How a file is encoded, as somebody says or its name does."""
    found = Format(given) if given else format_of("", path)
    if found is None:
        raise Rejected(f"{path!r} is not named like a CSV, Parquet or Arrow file; name the format")
    return found


def scan_objects(
    bucket: ObjectStore,
    found: Sequence[Found],
    source: dict[str, Any],
    directory: Path,
    limits: Limits,
    tell: Tell,
) -> tuple[pl.LazyFrame, set[str]]:
    """Every object, with the values that its folders carry; and columns that only text can hold."""
    frames, as_text = [], set()
    for number, one in enumerate(found):
        folder = directory / f"part-{number}"
        folder.mkdir()
        fmt = format_for(one.path, source["format"])
        _bring(bucket, one, folder / "file", wanted_columns(source), fmt, tell)
        frame, texts = tables.scan(
            tables.Source(folder / "file", fmt, CsvOptions(), folder), limits
        )
        frames.append(_with_partitions(frame, one.path))
        as_text |= texts
    return pl.concat(frames, how="diagonal_relaxed"), as_text


def _bring(
    bucket: ObjectStore,
    found: Found,
    file: Path,
    names: Collection[str] | None,
    fmt: Format,
    tell: Tell,
) -> None:
    if found.size == 0:
        raise Rejected(f"{found.path!r} is empty")
    ranges = [(0, found.size)]
    if fmt is Format.PARQUET and names is not None:
        with open_object(bucket, found, tell) as whole:
            ranges = ranges_of(partial(_is_wanted, names), whole)
    with file.open("xb") as target:
        target.truncate(found.size)
        fetch(bucket, found.path, ranges, target.fileno(), tell)
    check_unchanged(bucket, found)


def _is_wanted(names: Collection[str], path: str) -> bool:
    """By the name of a column, or of what it is nested in."""
    return path in names or path.partition(".")[0] in names


def _with_partitions(frame: pl.LazyFrame, path: str) -> pl.LazyFrame:
    known = frame.collect_schema().names()
    values = {name: value for name, value in partitions(path).items() if name not in known}
    return frame.with_columns(pl.lit(_parsed(value)).alias(name) for name, value in values.items())


def _parsed(value: str) -> int | str | None:
    if value == "__HIVE_DEFAULT_PARTITION__":
        return None
    return int(value) if value.lstrip("-").isdecimal() and len(value) < 18 else value
