"""Files to typed columns: every format becomes one Parquet file and a profile of each column."""

from __future__ import annotations

import csv
import errno
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from app.datasets.checksums import add_checksums
from app.datasets.csv_dialect import (
    MISSING,
    detect_delimiter,
    detect_encoding,
    first_lines,
    has_header,
    read_sample,
)
from app.datasets.faults import PASSING, Passing, Rejected, system_error
from app.datasets.formats import CsvOptions, Format, Wish
from app.datasets.keys import SAMPLE
from app.datasets.kinds.findings import understand
from app.datasets.limits import Limits
from app.datasets.parquet_groups import write_columns
from app.datasets.profile import profile
from app.datasets.ragged import check_lines
from app.datasets.sample import keep_sample

TEXTS = "texts.parquet"
MAX_REASON = 300
MANY_VALUES = 256
TRANSCODE_CHARACTERS = 1 << 20
COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
}


UNREADABLE = (pl.exceptions.PolarsError, pa.ArrowException, csv.Error, OSError, UnicodeError)


@dataclass(frozen=True)
class Source:
    """An upload and how to read it; `directory` is for intermediate files."""

    path: Path
    format: Format
    options: CsvOptions
    directory: Path


def ingest(source: Source, target: Path, limits: Limits) -> dict[str, Any]:
    """Write the columns to `target`; answer the number of rows and the profiles."""
    if source.path.stat().st_size == 0:
        raise Rejected("the file is empty")
    try:
        frame, as_text = scan(source, limits)
        return settle(frame, as_text, source, target, limits)
    except MemoryError:  # also one of pyarrow's own errors
        raise
    except UNREADABLE as error:
        raise verdict(source.format, error, limits) from error


def settle(
    frame: pl.LazyFrame, as_text: set[str], source: Source, target: Path, limits: Limits
) -> dict[str, Any]:
    """The same for a frame, wherever its rows are."""
    wishes = source.options.columns
    frame, as_text = typed(frame, as_text, wishes, limits)
    texts = source.directory / TEXTS
    write_columns(frame, texts)
    n_rows = pl.scan_parquet(texts).select(pl.len()).collect().item()
    _check_rows(n_rows, limits)
    keep_sample(texts, source.directory / SAMPLE, n_rows)
    is_typed = source.format is not Format.CSV
    found = understand(texts, target, wishes, limits, typed=is_typed)
    columns = list(profile(target, n_rows, as_text, found))
    add_checksums(target)
    return {"n_rows": n_rows, "columns": columns}


def verdict(fmt: Format, error: Exception, limits: Limits) -> Exception:
    """Whose fault an error is, in words for the owner of the file."""
    number = system_error(error)
    if number == errno.ENOMEM:
        return MemoryError()
    if number == errno.EFBIG:
        return Rejected(limits.out_of_room)
    if number in PASSING:
        return Passing(PASSING[number])
    return Rejected(_sentence(fmt, error))


def _sentence(fmt: Format, error: Exception) -> str:
    first = str(error).strip().split("\n")[0][:MAX_REASON]
    return f"the file could not be read as {fmt.replace('_', ' ')}: {first}"


def scan(source: Source, limits: Limits) -> tuple[pl.LazyFrame, set[str]]:
    """The file as a lazy frame, with the names checked, and columns that only text can hold."""
    if source.format is Format.CSV:
        return _scan_csv(source, limits)
    if source.format is Format.PARQUET:
        # What the footer declares; what is there is counted once it has been read.
        footer = pq.read_metadata(source.path)
        _check_rows(footer.num_rows, limits)
        names = footer.schema.to_arrow_schema().names
    elif source.format is Format.ARROW_FILE:
        with pa.memory_map(str(source.path)) as file:
            names = pa.ipc.open_file(file).schema.names
    else:
        return _scan_stream(source, limits), set()
    check_names(names, limits)
    reader = pl.scan_parquet if source.format is Format.PARQUET else pl.scan_ipc
    return reader(source.path), set()


def _scan_stream(source: Source, limits: Limits) -> pl.LazyFrame:
    """Batch by batch into a file that can be scanned."""
    copy, n_rows = source.directory / "stream.arrow", 0
    with pa.OSFile(str(source.path)) as file, pa.ipc.open_stream(file) as stream:
        check_names(stream.schema.names, limits)
        # Compressed again: a few kilobytes can hold gigabytes.
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_file(str(copy), stream.schema, options=options) as writer:
            for batch in stream:
                n_rows += batch.num_rows
                _check_rows(max(n_rows, 1), limits)
                writer.write_batch(batch)
    return pl.scan_ipc(copy)


def _scan_csv(source: Source, limits: Limits) -> tuple[pl.LazyFrame, set[str]]:
    sample, complete = read_sample(source.path, limits.max_header_bytes)
    _check_text(sample)
    encoding = source.options.encoding or detect_encoding(source.path, sample)
    if b"\0" in sample and not encoding.lower().startswith("utf-16"):
        raise Rejected("the file is not text: it contains NUL bytes")
    lines = first_lines(sample, encoding, complete=complete)
    delimiter = source.options.delimiter or detect_delimiter(lines[:100])
    first = next(csv.reader(lines, delimiter=delimiter), [])
    check_width(len(first), limits)
    header = has_header(first) if source.options.header is None else source.options.header
    names = [cell if header and cell else f"column_{i}" for i, cell in enumerate(first, 1)]
    check_names(names, limits)
    path = _as_utf8(source, encoding)
    check_lines(path, delimiter, len(first), limits)
    read = partial(
        pl.scan_csv,
        path,
        separator=delimiter,
        has_header=header,
        new_columns=names,
        null_values=list(MISSING),
        # A type guessed from the first rows would fail at the one word in the last.
        infer_schema_length=None,
    )
    wished = dict.fromkeys(source.options.columns.keys() & set(names), pl.String)
    frame = read(schema_overrides=wished)
    long = {name for name, kind in frame.collect_schema().items() if kind == pl.Int128}
    texts = wished | dict.fromkeys(long, pl.String)
    return (read(schema_overrides=texts) if long else frame), long


def _check_text(sample: bytes) -> None:
    for magic, name in COMPRESSED.items():
        if sample.startswith(magic):
            raise Rejected(f"the file is compressed with {name}; send it uncompressed")


def _as_utf8(source: Source, encoding: str) -> Path:
    if encoding.lower().replace("_", "-") in {"utf-8", "utf8", "ascii", "utf-8-sig"}:
        return source.path
    copy = source.directory / "utf8.csv"
    with (
        source.path.open(encoding=encoding, newline="") as reader,
        copy.open("w", encoding="utf-8", newline="") as writer,
    ):
        while chunk := reader.read(TRANSCODE_CHARACTERS):
            writer.write(chunk)
    return copy


def check_width(n_columns: int, limits: Limits) -> None:
    """There may not be too many columns, which is seen before each gets a name."""
    if n_columns > limits.max_columns:
        raise Rejected(f"the file has {n_columns} columns, more than {limits.max_columns}")


def check_names(names: Sequence[str], limits: Limits) -> None:
    """Every column needs a name of its own, and there may not be too many."""
    check_width(len(names), limits)
    if len(names) < 2:
        raise Rejected("the file has fewer than two columns: a target and a feature are needed")
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise Rejected(f"several columns are called {repeated[0][:64]!r}")
    for position, name in enumerate(names, 1):
        if not name or not name.isprintable() or len(name) > limits.max_name_length:
            raise Rejected(
                f"the name of column {position} is empty, longer than "
                f"{limits.max_name_length} characters or not printable: {name[:64]!r}"
            )


def _check_rows(n_rows: int, limits: Limits) -> None:
    if n_rows == 0:
        raise Rejected("the file has no rows")
    if n_rows > limits.max_rows:
        raise Rejected(f"the file has {n_rows} rows, more than {limits.max_rows}")


def typed(
    frame: pl.LazyFrame, as_text: set[str], wishes: Mapping[str, Wish], limits: Limits
) -> tuple[pl.LazyFrame, set[str]]:
    """Each column as whole numbers, numbers, booleans, times or text; NaN is missing.

    Numbers that floats would not tell apart become text, and are named beside those that are; so
    does what somebody wishes to be something, and what is to be ignored is left out.
    """
    schema, frame = frame.collect_schema(), frame.head(limits.max_rows + 1)
    ignored = {name for name, wish in wishes.items() if wish.kind == "ignore"}
    as_text = as_text | _inexact(frame, [name for name, t in schema.items() if _is_wide(t)])
    texts = as_text | set(wishes)
    return frame.select(
        pl.col(n).cast(pl.String) if n in texts else _cast(n, t)
        for n, t in schema.items()
        if n not in ignored
    ), as_text - set(wishes)


def _is_wide(dtype: pl.DataType) -> bool:
    return dtype.is_decimal() or dtype in (pl.Int128, pl.UInt128, pl.UInt64)


def _inexact(frame: pl.LazyFrame, names: list[str]) -> set[str]:
    """Columns that as floats have fewer values, and too few for their order to tell much."""
    if not names:
        return set()
    exact = frame.select(pl.col(names).n_unique()).collect(engine="streaming").row(0)
    as_floats = pl.col(names).cast(pl.Float64).n_unique()
    rounded = frame.select(as_floats).collect(engine="streaming").row(0)
    counts = zip(names, exact, rounded, strict=True)
    return {name for name, n, n_rounded in counts if n_rounded < min(n, MANY_VALUES)}


def _cast(name: str, dtype: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    if dtype.is_float():
        return column.fill_nan(None)
    if _is_wide(dtype) or dtype == pl.Null:
        return column.cast(pl.Float64)
    if dtype.is_integer() or dtype in (pl.Boolean, pl.String):
        return column
    if dtype in (pl.Date, pl.Datetime, pl.Time):
        return _moment(column, dtype)
    if dtype == pl.Duration:
        return column.dt.total_microseconds() / 1e6
    if dtype in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    raise Rejected(f"column {name!r} holds {dtype}, which is no single value; leave it out")


def _moment(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """As the clock on the wall had it; a time of day is one of the first day of 1970."""
    if dtype == pl.Time:
        return (column.to_physical() // 1000).cast(pl.Datetime("us"))
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        column = column.dt.replace_time_zone(None)
    return column.cast(pl.Datetime("us"))
