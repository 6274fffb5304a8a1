"""Finds out how a CSV is written: encoding, delimiter, whether the first line names the columns."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Sequence
from pathlib import Path

SAMPLE_BYTES = 262_144
DELIMITERS = ",;\t|"
BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Read as missing, besides the empty cell.
MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "#N/A")


def detect_encoding(sample: bytes) -> str:
    """The encoding that the byte order mark names, UTF-8 where it fits, else Windows-1252."""
    for bom, encoding in BOMS.items():
        if sample.startswith(bom):
            return encoding
    try:
        # Not final: the sample may end within a character.
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=False)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def detect_delimiter(lines: Sequence[str]) -> str:
    """The delimiter that cuts most lines into the same number of cells, above one."""
    return max(DELIMITERS, key=lambda delimiter: _agreement(lines, delimiter))


def _agreement(lines: Sequence[str], delimiter: str) -> tuple[int, int]:
    widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
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


def sample_lines(path: Path, encoding: str) -> list[str]:
    """The first whole lines, without a byte order mark."""
    with path.open("rb") as file:
        sample = file.read(SAMPLE_BYTES)
        complete = not file.read(1)
    text = codecs.getincrementaldecoder(encoding)().decode(sample, final=complete)
    lines = text.removeprefix("\ufeff").splitlines()
    return lines if complete or len(lines) < 2 else lines[:-1]
