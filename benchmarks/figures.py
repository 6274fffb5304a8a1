"""What a benchmark found: a number, what was hoped for, and what it was made from."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table

NOTE = (
    "Ratios count, not seconds: both sides took turns on the same data with the same number of "
    "threads, and the best of several runs was taken, since others may use the machine. Greedy "
    "choices and fits to convergence ran once; their evaluations and processor time are compared."
)


@dataclass(frozen=True)
class Figure:
    """One line of the report; `details` holds what the value was made from, seconds as `*_s`."""

    part: str
    what: str
    size: str
    value: float
    unit: str
    target: float | None = None
    sense: Literal["at least", "at most"] = "at least"
    details: dict[str, float] = field(default_factory=dict)

    @property
    def met(self) -> bool | None:
        """Whether the target was reached; None where there is none."""
        if self.target is None:
            return None
        return self.value >= self.target if self.sense == "at least" else self.value <= self.target


def show(figures: Sequence[Figure], console: Console) -> None:
    table = Table("what", "size", "value", "target", "", "from")
    for figure in figures:
        target = "" if figure.target is None else f"{figure.sense} {figure.target:g}"
        met = {True: "met", False: "[red]missed[/red]", None: ""}[figure.met]
        details = ", ".join(f"{name} {value:.3g}" for name, value in figure.details.items())
        value = f"{figure.value:.3g} {figure.unit}"
        table.add_row(figure.what, figure.size, value, target, met, details)
    console.print(table)


def show_verdicts(figures: Sequence[Figure], console: Console) -> None:
    """A line for every aim."""
    for figure in figures:
        if figure.target is not None:
            met = "met   " if figure.met else "[red]missed[/red]"
            found = f"{figure.value:.3g}, {figure.sense} {figure.target:.3g} {figure.unit}"
            console.print(f"{met} {figure.what}, {figure.size}: {found}", highlight=False)


def write(figures: Sequence[Figure], path: Path, about: dict[str, float], note: str = NOTE) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "note": note,
        "machine": platform.machine(),
        **about,
        "figures": [{**asdict(figure), "met": figure.met} for figure in figures],
    }
    path.write_text(json.dumps(document, indent=2) + "\n")
