"""Which files can be uploaded, under which media types, and how each may be described."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal


class Format(StrEnum):
    """How an upload is encoded."""

    CSV = "csv"
    PARQUET = "parquet"
    ARROW_STREAM = "arrow_stream"
    ARROW_FILE = "arrow_file"


MEDIA_TYPES = {
    "text/csv": Format.CSV,
    "text/tab-separated-values": Format.CSV,
    "application/csv": Format.CSV,
    "application/vnd.apache.parquet": Format.PARQUET,
    "application/x-parquet": Format.PARQUET,
    "application/vnd.apache.arrow.stream": Format.ARROW_STREAM,
    "application/vnd.apache.arrow.file": Format.ARROW_FILE,
}
EXTENSIONS = {
    "csv": Format.CSV,
    "tsv": Format.CSV,
    "txt": Format.CSV,
    "parquet": Format.PARQUET,
    "pq": Format.PARQUET,
    "arrows": Format.ARROW_STREAM,
    "arrow": Format.ARROW_FILE,
    "feather": Format.ARROW_FILE,
    "ipc": Format.ARROW_FILE,
}


def format_of(media_type: str, filename: str | None = None) -> Format | None:
    """The format that a media type names or, when it says nothing, the file's extension."""
    known = MEDIA_TYPES.get(media_type.split(";", maxsplit=1)[0].strip().lower())
    if known is None and filename:
        known = EXTENSIONS.get(filename.rpartition(".")[2].lower())
    return known


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What somebody says a column is; signs that are None are found out, "" is none."""

    kind: Literal["number", "category", "boolean", "time", "ignore"]
    decimal: str | None = None
    thousands: str | None = None


@dataclass(frozen=True, kw_only=True)
class CsvOptions:
    """How to read a CSV, and columns of any file; what is None or not named is detected."""

    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None
    columns: Mapping[str, Wish] = field(default_factory=dict)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> CsvOptions:
        """The options that `to_json` made it of; older ones name no columns."""
        columns = document.get("columns", {})
        return cls(**{**document, "columns": {name: Wish(**w) for name, w in columns.items()}})

    def to_json(self) -> dict[str, Any]:
        """As it is kept and shown."""
        return asdict(self)
