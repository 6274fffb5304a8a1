"""Refuses a CSV whose lines do not have the same number of cells, and says which line it is.

Whoever reads on would fill the gaps of a short line and put its cells into the wrong columns.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from app.datasets.faults import Rejected, printable
from app.datasets.limits import Limits

CHUNK = 1 << 22
SHOWN = 200
NEWLINE, RETURN = 10, 13


def check_lines(path: Path, delimiter: str, width: int, limits: Limits) -> None:
    """Every line but an empty one must have `width` cells; the file is UTF-8."""
    if _has_quotes(path):
        _check_quoted(path, delimiter, width, limits)
    else:
        for number, n_cells in _count_cells(path, ord(delimiter), width):
            raise _ragged(path, number, n_cells, width)


def _has_quotes(path: Path) -> bool:
    with path.open("rb") as file:
        return any(b'"' in chunk for chunk in iter(lambda: file.read(CHUNK), b""))


def _count_cells(path: Path, delimiter: int, width: int) -> Iterator[tuple[int, int]]:
    """The number and the cells of each line that has too few or too many; nothing is quoted."""
    n_lines, rest = 0, b""
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            data = np.frombuffer(rest + chunk, np.uint8)
            ends = np.flatnonzero(data == NEWLINE)
            yield from _wrong(data, ends, delimiter, width, n_lines)
            n_lines += len(ends)
            rest = data[ends[-1] + 1 :].tobytes() if len(ends) else data.tobytes()
    last = np.frombuffer(rest + b"\n", np.uint8)
    yield from _wrong(last, np.array([len(last) - 1]), delimiter, width, n_lines)


def _wrong(
    data: np.ndarray, ends: np.ndarray, delimiter: int, width: int, before: int
) -> Iterator[tuple[int, int]]:
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    places = np.flatnonzero(data == delimiter)
    n_cells = np.searchsorted(places, ends) - np.searchsorted(places, starts) + 1
    is_empty = (ends == starts) | ((ends == starts + 1) & (data[starts] == RETURN))
    for line in np.flatnonzero((n_cells != width) & ~is_empty)[:1]:
        yield before + int(line) + 1, int(n_cells[line])


def _check_quoted(path: Path, delimiter: str, width: int, limits: Limits) -> None:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        usual, begun = csv.field_size_limit(int(limits.max_cell_bytes)), 1
        try:
            for row in reader:
                if row and len(row) != width:
                    raise _ragged(path, begun, len(row), width)
                begun = reader.line_num + 1
        except csv.Error as error:
            raise _broken(path, begun, error, limits) from error
        finally:
            csv.field_size_limit(usual)


def _ragged(path: Path, number: int, n_cells: int, width: int) -> Rejected:
    cells = "1 cell" if n_cells == 1 else f"{n_cells:,} cells"
    return Rejected(
        f"line {number:,} has {cells} where the first has {width:,}: {_line(path, number)}"
    )


def _broken(path: Path, number: int, error: csv.Error, limits: Limits) -> Rejected:
    line = _line(path, number)
    if "field limit" in str(error):
        most = f"{limits.max_cell_bytes:,}"
        what = f"a cell that begins in line {number:,} has more than {most} characters"
        return Rejected(f"{what}; is a quotation mark not closed? {line}")
    if "unexpected end" in str(error):
        return Rejected(f"a quotation mark that opens in line {number:,} is never closed: {line}")
    return Rejected(f"line {number:,} goes on after a quotation mark that closes a cell: {line}")


def _line(path: Path, number: int) -> str:
    with path.open("rb") as file:
        line = next(islice(file, number - 1, None), b"")[: 4 * SHOWN]
    text = printable(line.decode("utf-8-sig", "replace").rstrip("\r\n"))
    return text[:SHOWN] + "…" * (len(text) > SHOWN)
