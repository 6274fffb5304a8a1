"""What was learnt about a column, and how new rows are encoded by it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.arrays import MISSING, Bytes, Floats, Values
from core.config import Discretize, Strategy
from core.data.cuts import Grouping, group_levels, information
from core.data.fine import FineColumn, different, fine_column, level_name
from core.data.texts import Column, Texts
from core.data.values import split_missing
from core.errors import InvalidData
from core.results import EncodedColumn

NO_VALUE = "(missing)"


@dataclass(frozen=True)
class CodedColumn:
    """Codes (n_rows,) with 255 for missing, and how they came about."""

    codes: Bytes
    learnt: EncodedColumn

    @property
    def n_levels(self) -> int:
        """Number of codes, used or not."""
        return len(self.learnt.levels)


def encode_column(
    name: str,
    values: Column,
    discretize: Discretize,
    row_weights: Floats | None = None,
    *,
    is_target: bool = False,
) -> CodedColumn:
    """Encode a column by itself, as no label tells where to cut: the target by equal shares."""
    column, fine = fine_column(name, values, discretize, row_weights, is_target=is_target)
    by_share = is_target or discretize.strategy == "quantile"
    strategy: Strategy = "quantile" if by_share else "uniform"
    bins = discretize.target_bins if is_target else discretize.bins
    cut = Discretize(bins=bins, missing="ignore")
    weights = np.ones(len(fine)) if row_weights is None else row_weights
    held = np.bincount(np.minimum(fine, column.n_levels), weights, column.n_levels + 1)
    counts = held[:, None].astype(np.float64)
    grouping = group_levels(column, counts, strategy, cut, 1)
    return CodedColumn(grouping.table[fine], describe(column, grouping, strategy))


def describe(
    column: FineColumn, grouping: Grouping, strategy: Strategy, counts: Floats | None = None
) -> EncodedColumn:
    """What was learnt; `counts` (n_fine + 1, C) tell what the cut lost about the label."""
    levels, edges = column.levels or (), None
    if column.edges is not None:
        chosen = np.zeros(0) if grouping.cuts is None else column.edges[grouping.cuts]
        edges = tuple(chosen.tolist())
        bounds = [f"{edge:.6g}" for edge in edges]
        lower, upper = ["-inf", *bounds], [*bounds, "inf"]
        levels = tuple(f"[{a}, {b})" for a, b in zip(lower, upper, strict=True))
        levels = levels if column.n_levels else ()
    lost = None
    if edges is not None and counts is not None:
        n_known = len(grouping.counts) - grouping.missing_is_level
        told, finer = information(grouping.counts[:n_known]), information(counts[:-1])
        lost = max(finer - max(told, 0.0), 0.0) * counts[:-1].sum() / counts.sum()
    return EncodedColumn(
        name=column.name,
        kind=column.kind,
        levels=(*levels, NO_VALUE) if grouping.missing_is_level else levels,
        edges=edges,
        merged=column.merged,
        n_merged=column.n_merged,
        n_missing=column.n_missing,
        n_infinite=column.n_infinite,
        strategy=None if edges is None else strategy,
        missing_is_level=grouping.missing_is_level,
        information_lost=lost,
    )


def encode_with(learnt: EncodedColumn, values: Column) -> Bytes:
    """Encode new rows as the learnt ones were; a level never seen is the merged one, or missing."""
    present, known, _ = split_missing(learnt.name, values)
    n_known = len(learnt.levels) - learnt.missing_is_level
    codes = np.full(len(present), n_known if learnt.missing_is_level else MISSING, dtype=np.uint8)
    codes[present] = _codes(known, learnt, n_known)
    return codes


def as_numbers(learnt: EncodedColumn, values: Column) -> Floats:
    """The values of a continuous column, the codes of a discrete one; NaN where missing."""
    if learnt.kind == "discrete":
        codes = encode_with(learnt, values).astype(np.float64)
        return np.where(codes == MISSING, np.nan, codes)
    present, known, _ = split_missing(learnt.name, values)
    numbers = np.full(len(present), np.nan)
    numbers[present] = known
    return numbers


def _codes(known: Values | Texts, learnt: EncodedColumn, n_known: int) -> Bytes:
    if learnt.edges is not None:
        if isinstance(known, Texts):
            raise InvalidData(
                f"column {learnt.name!r} holds text where numbers were learnt", learnt.name
            )
        return np.searchsorted(np.array(learnt.edges), known, side="right").astype(np.uint8)
    code_of = {level: code for code, level in enumerate(learnt.levels[:n_known])}
    unknown = n_known - 1 if learnt.n_merged else MISSING
    values, places = different(known)
    codes = (code_of.get(level_name(value), unknown) for value in values)
    return np.fromiter(codes, np.uint8, len(values))[places]
