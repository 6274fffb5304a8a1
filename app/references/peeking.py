"""As much of a file over https as tells its columns: its first bytes or its last."""

from __future__ import annotations

import io
from collections.abc import Mapping
from http.client import PARTIAL_CONTENT, HTTPResponse
from typing import Any, BinaryIO

from app.datasets.faults import Rejected
from app.datasets.formats import Format
from app.references.downloads import check_status, followed

# Of a CSV: enough lines to tell what its columns hold.
HEAD_BYTES = 1 << 20
# Those that tell their columns at their end: how long that is stands in four bytes before a magic
# word, so many bytes altogether.
ENDINGS = {Format.PARQUET: 8, Format.ARROW_FILE: 10}
LENGTH_BYTES = 4
MAX_FOOTER_BYTES = 32 << 20
UNTOLD = "the host gives no parts of a file, and this one tells its columns at its end"

Part = tuple[bytes, int | None]


def peek(connection: Mapping[str, Any], url: str, fmt: Format) -> tuple[BinaryIO, int | None]:
    """The part that tells the columns, and how long the file is, if the host says so."""
    if fmt in ENDINGS:
        part, n_bytes = _footer(connection, url, ENDINGS[fmt])
    else:
        part, n_bytes = _part(connection, url, f"0-{HEAD_BYTES - 1}", HEAD_BYTES)
    return io.BytesIO(part), n_bytes


def _footer(connection: Mapping[str, Any], url: str, ending: int) -> Part:
    part, n_bytes = _part(connection, url, f"-{HEAD_BYTES}", HEAD_BYTES)
    # Twice: readers want room for a magic word at the beginning, too.
    length = int.from_bytes(part[-ending:][:LENGTH_BYTES], "little") + 2 * ending
    if len(part) < length <= MAX_FOOTER_BYTES and len(part) == HEAD_BYTES:
        return _part(connection, url, f"-{length}", length)
    return part, n_bytes


def _part(connection: Mapping[str, Any], url: str, wanted: str, most: int) -> Part:
    """A range of bytes; of a host that knows none, the first of all."""
    with followed(connection, url, {"Range": f"bytes={wanted}"}) as (_, answer):
        if answer.status == PARTIAL_CONTENT:
            return answer.read(most), _whole_length(answer)
        check_status(answer.status)
        if wanted.startswith("-"):
            raise Rejected(UNTOLD)
        n_bytes = answer.length
        return answer.read(most), n_bytes


def _whole_length(answer: HTTPResponse) -> int | None:
    length = (answer.headers["Content-Range"] or "").rpartition("/")[2]
    return int(length) if length.isdecimal() else None
