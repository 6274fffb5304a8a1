"""Whole jobs beside each other: where their seconds go, and what they hold."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from benchmarks.figures import Figure

PHASES = ("encode", "rank", "fit", "select")
HEADINGS = (
    "rows x columns", "engine", ", ".join(PHASES), "by the clock", "ns a cell", "own MB",
    "mapped MB", "estimate", "cluster MB", "read MB", "group MB",
)  # fmt: skip
KINDS = ("own", "mapped", "estimated", "cluster", "read_from_disk", "group")


def show_jobs(figures: Sequence[Figure], console: Console) -> None:
    """A line for every size and engine."""
    table = Table(*HEADINGS, title="Default jobs, processor time of all processes")
    for figure in figures:
        told = figure.details
        memory = (told.get(f"{kind}_MB") for kind in KINDS)
        table.add_row(
            figure.size.partition(",")[0],
            figure.what.removeprefix("job, "),
            ", ".join(f"{told[f'{phase}_cpu_s']:.2f}" for phase in PHASES) + " s",
            f"{told['elapsed_s']:.2f} s",
            f"{figure.value:.1f}",
            *("" if megabytes is None else f"{megabytes:.0f}" for megabytes in memory),
        )
    console.print(table)
