"""What is learnt about a column, and the codes of its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.arrays import MISSING, Bytes, Floats
from core.config import Discretize, Strategy
from core.data._cut_kernels import information
from core.data.cuts import Grouping, group_alone
from core.data.draws import weigh_classes
from core.data.fine import FineColumn, fine_column
from core.data.levels import MERGED_NAMED, OTHER
from core.data.texts import Column
from core.results.selection import EncodedColumn

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
    held = weigh_classes(fine, row_weights, MISSING + 1)
    counts = np.append(held[: column.n_levels], held[MISSING])[:, None]
    grouping = group_alone(column, counts, strategy, cut)
    return CodedColumn(grouping.table[fine], describe(column, grouping, strategy))


def describe(
    column: FineColumn, grouping: Grouping, strategy: Strategy, counts: Floats | None = None
) -> EncodedColumn:
    """What was learnt; `counts` (n_fine + 1, C) tell what the cut lost about the label."""
    levels, edges = column.levels or (), None
    others = Others.of(column, grouping, counts)
    if others is not None:
        levels = others.levels
    if column.edges is not None:
        edges = tuple(column.edges[grouping.cuts].tolist())
        bounds = [f"{edge:.6g}" for edge in edges]
        lower, upper = ["-inf", *bounds], [*bounds, "inf"]
        levels = tuple(f"[{a}, {b})" for a, b in zip(lower, upper, strict=True))
        levels = levels if column.n_levels else ()
    lost = None
    if (edges is not None or others is not None) and counts is not None:
        n_known = len(grouping.counts) - grouping.missing_is_level
        told, finer = information(grouping.counts[:n_known]), information(counts[:-1])
        lost = max(finer - max(told, 0.0), 0.0) * counts[:-1].sum() / counts.sum()
    return EncodedColumn(
        name=column.name,
        kind=column.kind,
        levels=(*levels, NO_VALUE) if grouping.missing_is_level else levels,
        edges=edges,
        merged=column.merged if others is None else others.merged,
        n_merged=column.n_merged if others is None else others.n_merged,
        n_missing=column.n_missing,
        n_infinite=column.n_infinite,
        strategy=None if edges is None and others is None else strategy,
        missing_is_level=grouping.missing_is_level,
        information_lost=lost,
    )


@dataclass(frozen=True)
class Others:
    """Levels without an order of which the last stands for all that do not tell by themselves."""

    levels: tuple[str, ...]
    merged: tuple[str, ...]
    n_merged: int

    @classmethod
    def of(cls, column: FineColumn, grouping: Grouping, counts: Floats | None) -> Others | None:
        """None where every level of the column is one of the grouping."""
        names = column.levels or ()
        last = len(grouping.counts) - grouping.missing_is_level - 1
        shared = np.flatnonzero(grouping.table[: len(names)] == last)
        if len(shared) < 2:
            return None
        rows = np.zeros(len(names)) if counts is None else counts[: len(names)].sum(axis=1)
        named = shared[shared < len(names) - (column.n_merged > 0)]
        commonest = named[np.argsort(-rows[named], kind="stable")[:MERGED_NAMED]]
        own = (name for name, group in zip(names, grouping.table, strict=False) if group != last)
        return cls(
            levels=(*own, OTHER),
            merged=(*(names[i] for i in commonest.tolist()), *column.merged)[:MERGED_NAMED],
            n_merged=len(named) + column.n_merged,
        )
