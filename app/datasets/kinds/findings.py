"""What each column is, found out or as wished, and the table with all of them understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from app.datasets.columns import read_some_at_a_time
from app.datasets.faults import Rejected, printable
from app.datasets.formats import Wish
from app.datasets.kinds import words
from app.datasets.kinds.conversion import convert
from app.datasets.kinds.detection import CATEGORY, TEXT, Fit, closest, obey
from app.datasets.kinds.reading import Kind, Reading
from app.datasets.limits import Limits

MAX_SHOWN = 5
MAX_LENGTH = 40


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What is told about the kind of one column; `examples` are texts as they are written."""

    detected: Kind
    why: str
    reading: Reading | None = None
    chosen: bool = False
    unfit: int = 0
    unfit_values: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As it is kept beside the profile."""
        reading = self.reading.to_json() if self.reading else None
        return {**vars(self), "reading": reading}


def understand(
    source: Path, target: Path, wishes: Mapping[str, Wish], limits: Limits, *, typed: bool
) -> dict[str, Finding]:
    """Write the table with its texts understood, and say of each column what it was found to be."""
    schema = pl.read_parquet_schema(source)
    texts = [name for name, dtype in schema.items() if dtype == pl.String]
    found = {name: _native(dtype, typed) for name, dtype in schema.items() if dtype != pl.String}
    with source.open("rb") as file:
        for column in read_some_at_a_time(file, texts):
            _check_cells(column, limits)
            found[column.name] = _look_at(column, wishes.get(column.name), typed)
    readings = {n: f.reading for n, f in found.items() if f.reading and f.reading != CATEGORY}
    convert(source, target, readings)
    return found


def _check_cells(column: pl.Series, limits: Limits) -> None:
    """Before anything else is done with them."""
    longest = column.str.len_bytes().max()
    if isinstance(longest, int) and longest > limits.max_cell_bytes:
        raise Rejected(
            f"column {column.name!r} has a cell of {longest} bytes, more than "
            f"{limits.max_cell_bytes}"
        )
    if column.str.contains("\0", literal=True).any():
        raise Rejected(f"column {column.name!r} has cells with NUL bytes")


def _look_at(column: pl.Series, wish: Wish | None, typed: bool) -> Finding:
    near = closest(column, plain_numbers=not typed)
    fit = near if near and near.is_taken else None
    detected: Kind = fit.reading.kind if fit else "category"
    found = words.why(fit) if fit else words.why_text(near)
    if wish is None:
        return _told(column, detected, found, fit)
    fit = obey(column, wish)
    return _told(column, detected, f"{words.AS_TOLD} {words.why(fit)}", fit, chosen=True)


def _told(
    column: pl.Series, detected: Kind, why: str, fit: Fit | None, *, chosen: bool = False
) -> Finding:
    unfit = None if fit is None else fit.unfit
    return Finding(
        detected=detected,
        why=why,
        reading=None if fit is None else fit.reading,
        chosen=chosen,
        unfit=0 if unfit is None else int(unfit["n"].sum()),
        unfit_values=[] if unfit is None else _shown(unfit[TEXT]),
        examples=_shown(column.drop_nulls().head(1000).unique(maintain_order=True)),
    )


def _shown(texts: pl.Series) -> list[str]:
    return [printable(text[:MAX_LENGTH]) for text in texts.head(MAX_SHOWN)]


def _native(dtype: pl.DataType, typed: bool) -> Finding:
    kind: Kind = "boolean" if dtype == pl.Boolean else "time" if dtype.is_temporal() else "number"
    return Finding(detected=kind, why=words.FILE_SAYS if typed else words.NATIVE[kind])
