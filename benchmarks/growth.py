"""What jobs at several sizes and engines say of each other: ratios to memory, and growth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.figures import Figure

MOST_OVERHEAD, JUDGED_CELLS = 1.3, 10**8
AIMS = {
    (JUDGED_CELLS, "job, dask 2"): MOST_OVERHEAD,
    (10**9, "job, file, within 4 GiB"): 1.5,
}
NOT_GROWING = 1.1
"""Time per cell, over that at the size before; the rest is the noise of single runs."""

IN_MEMORY = "job, memory"


def compare_engines(figures: Sequence[Figure]) -> Iterator[Figure]:
    """Every engine against memory, at every size."""
    in_memory = {figure.size: figure for figure in figures if figure.what == IN_MEMORY}
    for figure in figures:
        memory = in_memory.get(figure.size)
        if memory is not None and figure is not memory:
            yield _overhead(figure, memory)


def _overhead(figure: Figure, memory: Figure) -> Figure:
    return Figure(
        part="overhead",
        what=f"{figure.what}, against memory",
        size=figure.size,
        value=figure.details["elapsed_s"] / memory.details["elapsed_s"],
        unit="of its time",
        target=AIMS.get((int(figure.details["cells"]), figure.what)),
        sense="at most",
        details={"processor_ratio": figure.value / memory.value},
    )


def compare_sizes(figures: Sequence[Figure]) -> Iterator[Figure]:
    """Every engine at every size against the next smaller one."""
    for what in dict.fromkeys(figure.what for figure in figures):
        same = [figure for figure in figures if figure.what == what]
        for figure in same:
            smaller = [one for one in same if one.details["cells"] < figure.details["cells"]]
            if smaller:
                before = max(smaller, key=lambda one: one.details["cells"])
                yield _growth(figure, before)


def _growth(figure: Figure, before: Figure) -> Figure:
    return Figure(
        part="growth",
        what=f"{figure.what}, time per cell",
        size=figure.size,
        value=figure.value / before.value,
        unit=f"of that at {before.size}",
        target=NOT_GROWING,
        sense="at most",
        details={"ns_a_cell": figure.value, "ns_a_cell_before": before.value},
    )
