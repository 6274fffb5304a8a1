"""Finds out how a CSV is written: encoding, delimiter, whether the first line names the columns."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Sequence
from pathlib import Path

SAMPLE_BYTES = 262_144
DELIMITERS = ",;\t|"
# A line cut at the wrong delimiter is one long cell; how much is looked at is limited elsewhere.
csv.field_size_limit(2**31 - 1)
BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Read as missing, besides the empty cell.
MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "#N/A")


def detect_encoding(path: Path, sample: bytes) -> str:
    """The encoding that the byte order mark names, UTF-8 where all fits, else Windows-1252."""
    for bom, encoding in BOMS.items():
        if sample.startswith(bom):
            return encoding
    return "utf-8" if _is_utf8(path) else "cp1252"


def _is_utf8(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as file:
            while chunk := file.read(SAMPLE_BYTES):
                decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def detect_delimiter(lines: Sequence[str]) -> str:
    """The delimiter that cuts most lines into the same number of cells, above one."""
    return max(DELIMITERS, key=lambda delimiter: _agreement(lines, delimiter))


def _agreement(lines: Sequence[str], delimiter: str) -> tuple[int, int]:
    beginnings = (line[:SAMPLE_BYTES] for line in lines)
    widths = [len(row) for row in csv.reader(beginnings, delimiter=delimiter) if row]
    if not widths or widths[0] == 1:
        return (0, 0)
    return (sum(width == widths[0] for width in widths), widths[0])


def has_header(first: Sequence[str]) -> bool:
    """A line in which some cell is a number names no columns."""
    return not any(_is_number(cell) for cell in first)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return cell.strip().lower() not in {"nan", "inf", "infinity"}


def read_sample(path: Path, max_line_bytes: int) -> tuple[bytes, bool]:
    """The beginning, with at least the first line, and whether that is all there is."""
    with path.open("rb") as file:
        sample = file.read(SAMPLE_BYTES)
        if b"\n" not in sample:
            sample += file.readline(max_line_bytes)
        return sample, not file.read(1)


def first_lines(sample: bytes, encoding: str, *, complete: bool) -> list[str]:
    """The first whole lines, without a byte order mark."""
    text = codecs.getincrementaldecoder(encoding)().decode(sample, final=complete)
    lines = text.removeprefix("\ufeff").splitlines()
    return lines if complete or len(lines) < 2 else lines[:-1]
