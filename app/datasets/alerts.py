"""What a sample of rows tells about trouble ahead: copies and, against a target, leaks and noise.

Every column is coded into a few levels, and tables of counts say how much it tells about the
target by itself: what it tells together with others only a job can say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from app.datasets.sample import read_understood
from app.datasets.warnings import listed, table_warnings, target_warnings
from core.data.times import time_parts
from core.results.selection import TableWarning, WarningCode

Codes = NDArray[np.int64]
Column = Mapping[str, Any]

MAX_COLUMNS = 5_000
N_LEVELS = 30
N_BINS = 8
LEAK_SHARE = 0.95
GAP_SHARE = 0.9
MIN_GAPS = 20
SURE = 2.33  # standard deviations: one column of noise in a hundred tells by chance

SAYS: Mapping[WarningCode, tuple[str, str]] = {
    "leaks_target": (
        "alone tells nearly all there is to know about {}: is it known before {} is?",
        "alone tell nearly all there is to know about {}: are they known before {} is?",
    ),
    "missing_tells": (
        "tells about {} mostly by being missing: why is it missing?",
        "tell about {} mostly by being missing: why are they missing?",
    ),
    "tells_nothing": (
        "tells nothing about {} by itself, though it may together with others",
        "tell nothing about {} by themselves, though they may together with others",
    ),
}


def sample_warnings(
    file: BinaryIO, n_rows: int, columns: Sequence[Column], target: str | None
) -> tuple[int, list[TableWarning]]:
    """How many rows were looked at, and all that there is to beware of."""
    looked_at = [c for i, c in enumerate(columns) if i < MAX_COLUMNS or c["name"] == target]
    frame = read_understood(file, looked_at)
    codes = {column.name: _codes(column) for column in frame.iter_columns()}
    found = [*table_warnings(n_rows, columns), *_copies(frame)]
    if target is not None:
        found += target_warnings(n_rows, columns, target)
        for code, names in _against(codes, target).items():
            found += _warn(code, names, target)
    return frame.height, found


def _warn(code: WarningCode, names: Sequence[str], target: str) -> list[TableWarning]:
    if not names:
        return []
    one, many = SAYS[code]
    sentence = (one if len(names) == 1 else many).replace("{}", target)
    message = f"{listed(names)} {sentence}{'' if sentence.endswith('?') else '.'}"
    return [TableWarning(code=code, columns=tuple(names), message=message)]


def _codes(column: pl.Series) -> list[Codes]:
    """Of a time those of each part that a job would search, else those of the column."""
    if column.dtype != pl.Datetime:
        return [_code(column)]
    parts = time_parts(column.to_numpy()).values()
    return [_code(pl.Series(column.name, part, nan_to_null=True)) for part in parts]


def _code(column: pl.Series) -> Codes:
    """Levels from 1 on, numbers in bins of equal share; 0 is missing."""
    if column.dtype.is_numeric() and column.n_unique() > N_BINS:
        numbers = column.cast(pl.Float64).to_numpy()
        edges = np.unique(np.nanquantile(numbers, np.arange(1, N_BINS) / N_BINS))
        codes = np.searchsorted(edges, numbers, side="right") + 1
        return np.where(np.isnan(numbers), 0, codes)
    texts = column.cast(pl.String)
    order = texts.drop_nulls().value_counts(sort=True)[column.name].head(N_LEVELS)
    place = {value: i for i, value in enumerate(order.to_list(), 1)}
    found = texts.replace_strict(place, default=N_LEVELS + 1, return_dtype=pl.Int64)
    return np.where(column.is_null().to_numpy(), 0, found.fill_null(0).to_numpy())


def _copies(frame: pl.DataFrame) -> list[TableWarning]:
    """Columns with the same values as one before them; a constant is none."""
    first: dict[bytes, str] = {}
    originals: dict[str, str] = {}
    for column in frame.iter_columns():
        if column.n_unique() < 2:
            continue
        plain = column.cast(pl.Float64) if column.dtype.is_numeric() else column
        held = plain.hash().to_numpy().tobytes()
        if held in first:
            originals[column.name] = first[held]
        first.setdefault(held, column.name)
    if not originals:
        return []
    told = listed([f"{name} (of {original})" for name, original in originals.items()])
    message = f"{told} are copies."
    if len(originals) == 1:
        message = " is a copy of ".join(*originals.items()) + "."
    return [TableWarning(code="copy", columns=tuple(originals), message=message)]


def _against(codes: Mapping[str, list[Codes]], target: str) -> dict[WarningCode, list[str]]:
    found: dict[WarningCode, list[str]] = {
        "leaks_target": [], "missing_tells": [], "tells_nothing": []
    }  # fmt: skip
    used = codes[target][0] > 0
    label = codes[target][0][used]
    entropy = _information(label, label)[0]
    if not len(label) or entropy <= 0:
        return found
    for name, parts in codes.items():
        verdicts = {_verdict(part[used], label, entropy) for part in parts}
        code = verdicts.pop() if len(verdicts) == 1 else None
        if code is not None and name != target:
            found[code].append(name)
    return found


def _verdict(column: Codes, label: Codes, entropy: float) -> WarningCode | None:
    told, is_sure = _information(column, label)
    if not is_sure:
        return "tells_nothing"
    gaps = (column == 0).astype(np.int64)
    by_gaps, gaps_are_sure = _information(gaps, label)
    if gaps.sum() >= MIN_GAPS and gaps_are_sure and by_gaps >= GAP_SHARE * told:
        return "missing_tells"
    return "leaks_target" if told >= LEAK_SHARE * entropy else None


def _information(column: Codes, label: Codes) -> tuple[float, bool]:
    """I(column; label) in nats, less what chance adds, and whether it is more than chance."""
    counts = np.zeros((column.max(initial=0) + 1, label.max(initial=0) + 1))
    np.add.at(counts, (column, label), 1)
    rows, classes, n = counts.sum(1), counts.sum(0), counts.sum()
    expected = np.outer(rows, classes) / max(n, 1)
    known = counts > 0
    plain = float((counts[known] * np.log(counts[known] / expected[known])).sum() / max(n, 1))
    freedom = (np.count_nonzero(rows) - 1) * (np.count_nonzero(classes) - 1)
    if freedom <= 0:
        return 0.0, False
    # The quantile of chi squared, by Wilson and Hilferty.
    spread = 2 / (9 * freedom)
    chance = freedom * (1 - spread + SURE * spread**0.5) ** 3
    return plain - freedom / (2 * n), 2 * n * plain > chance
