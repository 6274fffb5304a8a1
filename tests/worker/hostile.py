"""Files made to break whoever reads them; small themselves, made here."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CSV = "text/csv"
PARQUET = "application/vnd.apache.parquet"
STREAM = "application/vnd.apache.arrow.stream"
FILE = "application/vnd.apache.arrow.file"
MAX_ROWS = 100_000


@dataclass(frozen=True)
class Hostile:
    """A file and what is said about it; without a reason it is taken."""

    name: str
    media_type: str
    content: bytes
    reason: str | None


def binaries() -> list[Hostile]:
    """Those that can take a process along."""
    return [*_parquets(), *_arrows()]


def texts() -> list[Hostile]:
    """Those that a reader in this process survives."""
    cases: list[tuple[str, bytes, str | None]] = [
        ("empty", b"", "empty"),
        ("only a header", b"a,b\n", "no rows"),
        ("a zip bomb", _zip_bomb(), "compressed with zip"),
        ("a gzip bomb", gzip.compress(b"a,b\n" + b"0,1\n" * 5_000_000), "compressed with gzip"),
        ("a million columns", _wide(1_000_000), "1000000 columns, more than 50000"),
        ("a line without end", b"a,b\n1," + b"x" * 20_000_000, "more than 65536"),
        ("a first line without end", b"x" * 20_000_000, "fewer than two columns"),
        ("a gigantic cell", b"a,b\n1," + b"x" * 70_000 + b"\n2,y\n", "more than 65536"),
        ("bytes of no encoding", b"a,b\n\x81\x8d,\x8f\n", "could not be read as csv"),
        ("utf-16 without a mark", "a,b\n1,2\n".encode("utf-16-le"), "NUL bytes"),
        ("half a utf-16 character", "a,b\n1,2\n".encode("utf-16")[:-1], "could not be read"),
        ("a late NUL", b"a,b\n" + b"1,2\n" * 80_000 + b"\0,3\n", "NUL bytes"),
        ("control characters in a name", b"a,b\x1b[2J\n1,2\n", "not printable: 'b\\x1b[2J'"),
        ("reversed text in a name", "a,b\u202ex\n1,2\n".encode(), "not printable"),
        ("names that repeat", b"a,a\n1,2\n", "several columns are called 'a'"),
        ("more cells than names", b"a,b\n1,2,3\n", "line 2 has 3 cells"),
        ("a quote that never ends", b'a,b\n"1,2\n3,4\n' + b"5,6\n" * 20_000, ""),
        ("too many rows", b"a,b\n" + b"1,2\n" * (MAX_ROWS + 1), f"more than {MAX_ROWS}"),
        ("markup in names", b"<script>alert(1)</script>,b\n1,2\n2,1\n", None),
        ("missing and infinite numbers", b"a,b\nNaN,1\ninf,2\n-inf,\n", None),
        ("an empty name", b",b\n1,2\n", None),
        ("mixed delimiters", b"a,b;c\n1,2;3\n4,5;6\n", None),
    ]
    return [Hostile(name, CSV, content, reason) for name, content, reason in cases]


def _parquets() -> list[Hostile]:
    good = parquet({"a": np.arange(100), "y": np.arange(100) % 2})
    zeros = {"a": np.zeros(5_000_000, np.int8), "y": np.zeros(5_000_000, np.int8)}
    cases: list[tuple[str, bytes, str]] = [
        ("truncated", good[:-20], "could not be read as parquet"),
        ("a footer of two gigabytes", _forge_footer_length(good), "could not be read as parquet"),
        ("a footer of noise", good[:4] + b"\xff" * 64 + good[-8:], "could not be read as parquet"),
        ("more rows declared than there are", _forge_row_count(good), ""),
        ("a bomb of rows", parquet(zeros), f"5000000 rows, more than {MAX_ROWS}"),
        ("a bomb of cells", _cell_bomb(), "more than the 4 GiB allowed"),
        ("lists", parquet({"a": [[1], [2]], "y": [1, 2]}), "no single value"),
        ("a CSV by another name", b"a,b\n1,2\n", "could not be read as parquet"),
    ]
    return [Hostile(f"parquet: {name}", PARQUET, c, reason) for name, c, reason in cases]


def _arrows() -> list[Hostile]:
    stream, file = arrow({"a": [1, 2], "y": [1, 2]})
    cases = [
        ("a message of two gigabytes", STREAM, struct.pack("<Ii", 0xFFFFFFFF, 2**31 - 1)),
        ("a truncated stream", STREAM, stream[: len(stream) // 2]),
        ("forged lengths", STREAM, stream.replace(struct.pack("<q", 2), struct.pack("<q", 2**60))),
        ("a truncated file", FILE, file[: len(file) // 2]),
        ("a forged footer", FILE, file[:-10] + struct.pack("<i", 2**31 - 1) + file[-6:]),
    ]
    return [Hostile(f"arrow: {name}", form, content, "") for name, form, content in cases]


def parquet(columns: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer, compression="zstd")
    return buffer.getvalue()


def arrow(columns: dict[str, Any]) -> tuple[bytes, bytes]:
    table = pa.table(columns)
    stream, file = io.BytesIO(), io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue(), file.getvalue()


def _zip_bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"0" * 20_000_000)
    return buffer.getvalue()


def _wide(n_columns: int) -> bytes:
    header = ",".join(f"c{i}" for i in range(n_columns))
    return f"{header}\n{'1,' * (n_columns - 1)}1\n".encode()


def _cell_bomb() -> bytes:
    """A thousand cells of four megabytes each, in a file of a few kilobytes."""
    cells = pa.DictionaryArray.from_arrays(np.zeros(1000, np.int32), ["x" * 4_000_000])
    return parquet({"a": cells, "y": np.arange(1000)})


def _forge_footer_length(content: bytes) -> bytes:
    return content[:-8] + struct.pack("<i", 2**31 - 1) + content[-4:]


def _forge_row_count(content: bytes) -> bytes:
    """100 and 8191 are two bytes each in the footer's encoding."""
    length = struct.unpack("<i", content[-8:-4])[0]
    data, footer = content[: -8 - length], content[-8 - length :]
    return data + footer.replace(b"\xc8\x01", b"\xfe\x7f")
