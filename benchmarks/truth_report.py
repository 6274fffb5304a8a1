"""Table and JSON of the benchmark of truth, with its aims."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.units import Document
from benchmarks.worlds import WORLDS

OURS, PEER = "Pith", "Boruta"


@dataclass(frozen=True)
class Line:
    """One decider in one world, means over the seeds."""

    world: str
    decider: str
    n_seeds: int
    n_chosen: float
    false: float
    found: float
    seconds: float
    cpu: float


@dataclass(frozen=True)
class Aim:
    """What is wanted of ours, what was found, and whether that is enough."""

    what: str
    found: float
    met: bool


def write_report(units: Sequence[Document], out: Path) -> None:
    """Write truth.json and truth.md, and print both tables."""
    lines, aims = _lines(units), _aims(units)
    document = {"lines": [asdict(line) for line in lines], "aims": [asdict(aim) for aim in aims]}
    (out / "truth.json").write_text(json.dumps(document, indent=2) + "\n")
    (out / "truth.md").write_text(_markdown(lines, aims))
    Console(width=120).print(_printed(lines), *(_sentence(aim) for aim in aims), sep="\n")


def _lines(units: Sequence[Document]) -> list[Line]:
    pairs = dict.fromkeys((unit["world"], unit["decider"]) for unit in units)
    return [_line(units, *pair) for pair in pairs]


def _line(units: Sequence[Document], world: str, decider: str) -> Line:
    mine = _of(units, decider, world)
    n_chosen = float(np.mean([len(unit["chosen"]) for unit in mine]))
    means = [_mean(mine, field) for field in ("false", "found", "seconds", "cpu")]
    return Line(world, decider, len(mine), n_chosen, *means)


def _of(units: Sequence[Document], decider: str, world: str | None = None) -> list[Document]:
    return [u for u in units if u["decider"] == decider and world in (None, u["world"])]


def _mean(units: Sequence[Document], field: str) -> float:
    return float(np.mean([unit[field] for unit in units]))


def _aims(units: Sequence[Document]) -> list[Aim]:
    ours = _of(units, OURS)
    if not ours:
        return []
    noise = [unit for unit in ours if not WORLDS[unit["world"]].groups]
    worlds = dict.fromkeys(unit["world"] for unit in ours)
    worst = max(_mean(_of(units, OURS, world), "false") for world in worlds)
    false, found = _mean(ours, "false"), _mean(ours, "found")
    aims = [
        Aim("mean false share at most 0.05", false, false <= 0.05),
        Aim("false share below 0.2 in every world", worst, worst < 0.2),
        Aim("power at least 0.97", found, found >= 0.97),
    ]
    if noise:
        silent = _mean(noise, "found")
        aims.append(Aim("nothing chosen on noise in 95 % of runs", silent, silent >= 0.95))
    ratios = [_times_faster(units, world) for world in worlds if _of(units, PEER, world)]
    if ratios:
        slowest = min(ratios)
        aims.append(Aim(f"faster than {PEER} in every world, times", slowest, slowest > 1))
    return aims


def _times_faster(units: Sequence[Document], world: str) -> float:
    theirs, ours = (_of(units, decider, world) for decider in (PEER, OURS))
    return _mean(theirs, "seconds") / _mean(ours, "seconds")


def _cells(line: Line) -> list[str]:
    shares = [f"{line.n_chosen:.1f}", f"{line.false:.2f}", f"{line.found:.2f}"]
    return [line.world, line.decider, str(line.n_seeds), *shares, f"{line.seconds:.2f}",
            f"{line.cpu:.2f}"]  # fmt: skip


HEADER = ("world", "decider", "seeds", "chosen", "false", "found", "s", "CPU s")


def _summary(lines: Sequence[Line]) -> list[Line]:
    """The mean over the worlds, for each decider."""
    return [
        Line(
            "mean of all worlds", decider, min(line.n_seeds for line in mine),
            *(float(np.mean([getattr(line, field) for line in mine]))
              for field in ("n_chosen", "false", "found", "seconds", "cpu")),
        )
        for decider in dict.fromkeys(line.decider for line in lines)
        for mine in [[line for line in lines if line.decider == decider]]
    ]  # fmt: skip


def _printed(lines: Sequence[Line]) -> Table:
    table = Table(*HEADER)
    for line in [*lines, *_summary(lines)]:
        table.add_row(*_cells(line))
    return table


def _markdown(lines: Sequence[Line], aims: Sequence[Aim]) -> str:
    rows = [HEADER, ["---"] * len(HEADER), *map(_cells, [*lines, *_summary(lines)])]
    table = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([*table, "", *(f"* {_sentence(aim)}" for aim in aims)]) + "\n"


def _sentence(aim: Aim) -> str:
    return f"{aim.what}: {aim.found:.3f}, {'met' if aim.met else 'not met'}"
