"""Table and JSON of the benchmark of truth, with its aims."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.units import OURS, Document
from benchmarks.worlds import WORLDS

PEER = "Boruta"
Z = 1.645
"""Standard errors to either side of an interval of 90 %."""


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
    claimed: float | None
    truth: float | None
    in_hand: float | None
    coverage: float | None
    coverage_in_hand: float | None


@dataclass(frozen=True)
class Claim:
    """Held-out information, its standard error, and the truth of fresh rows.

    `truth` is the mean over tables, `in_hand` that of the very choice that was made.
    """

    information: float
    standard_error: float
    truth: float
    in_hand: float

    def holds(self, truth: float) -> bool:
        """Whether the interval of 90 % holds the truth."""
        return abs(self.information - truth) <= Z * self.standard_error


@dataclass(frozen=True)
class Aim:
    """What is wanted of ours, what was found, and whether that is enough."""

    what: str
    found: float
    met: bool


def write_report(units: Sequence[Document], fresh: Sequence[Document], out: Path) -> None:
    """Write truth.json and truth.md, and print the same."""
    claims = _claims(units, fresh)
    lines, aims = _lines(units, claims), _aims(units, claims)
    document = {"lines": [asdict(line) for line in lines], "aims": [asdict(aim) for aim in aims]}
    (out / "truth.json").write_text(json.dumps(document, indent=2) + "\n")
    (out / "truth.md").write_text(_markdown(lines, aims))
    Console(width=150).print(_printed(lines), *(_sentence(aim) for aim in aims), sep="\n")


def _claims(units: Sequence[Document], fresh: Sequence[Document]) -> dict[str, list[Claim]]:
    """What ours claimed in each world; where nothing was chosen nothing was claimed."""
    claims: dict[str, list[Claim]] = {}
    for unit in _of(units, OURS):
        k, curves = len(unit["chosen"]), [f["information"] for f in _in(fresh, unit["world"])]
        if k > 0 and curves and unit["information"] is not None:
            truth = float(np.mean([curve[k] for curve in curves]))
            claim = Claim(unit["information"], unit["standard_error"], truth, unit["in_hand"])
            claims.setdefault(unit["world"], []).append(claim)
    return claims


def _lines(units: Sequence[Document], claims: Mapping[str, list[Claim]]) -> list[Line]:
    pairs = dict.fromkeys((unit["world"], unit["decider"]) for unit in units)
    return [
        _line(_of(units, decider, world), claims.get(world, []) if decider == OURS else [])
        for world, decider in pairs
    ]


def _line(mine: Sequence[Document], claims: Sequence[Claim]) -> Line:
    return Line(
        world=mine[0]["world"],
        decider=mine[0]["decider"],
        n_seeds=len(mine),
        n_chosen=float(np.mean([len(unit["chosen"]) for unit in mine])),
        claimed=_known_mean([claim.information for claim in claims]),
        truth=_known_mean([claim.truth for claim in claims]),
        in_hand=_known_mean([claim.in_hand for claim in claims]),
        coverage=_known_mean([claim.holds(claim.truth) for claim in claims]),
        coverage_in_hand=_known_mean([claim.holds(claim.in_hand) for claim in claims]),
        **{field: _mean(mine, field) for field in ("false", "found", "seconds", "cpu")},
    )


def _known_mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _in(units: Sequence[Document], world: str) -> list[Document]:
    return [unit for unit in units if unit["world"] == world]


def _of(units: Sequence[Document], decider: str, world: str | None = None) -> list[Document]:
    return [u for u in units if u["decider"] == decider and world in (None, u["world"])]


def _mean(units: Sequence[Document], field: str) -> float:
    return float(np.mean([unit[field] for unit in units]))


def _aims(units: Sequence[Document], claims: Mapping[str, list[Claim]]) -> list[Aim]:
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
    coverage = _known_mean(
        [claim.holds(claim.truth) for world in claims.values() for claim in world]
    )
    if coverage is not None:
        aims.append(Aim("90 % of the intervals hold the truth", coverage, coverage >= 0.9))
    return aims


def _times_faster(units: Sequence[Document], world: str) -> float:
    theirs, ours = (_of(units, decider, world) for decider in (PEER, OURS))
    return _mean(theirs, "seconds") / _mean(ours, "seconds")


MEANS = ("n_chosen", "false", "found", "seconds", "cpu", "claimed", "truth", "in_hand",
         "coverage", "coverage_in_hand")  # fmt: skip


def _cells(line: Line) -> list[str]:
    shares = [f"{line.n_chosen:.1f}", f"{line.false:.2f}", f"{line.found:.2f}"]
    told = (line.claimed, line.truth, line.in_hand, line.coverage, line.coverage_in_hand)
    known = ["" if value is None else f"{value:.3f}" for value in told]
    times = [f"{line.seconds:.2f}", f"{line.cpu:.2f}"]
    return [line.world, line.decider, str(line.n_seeds), *shares, *known, *times]


HEADER = (
    "world", "decider", "seeds", "chosen", "false", "found", "claimed", "true", "in hand",
    "covered", "covered in hand", "s", "CPU s",
)  # fmt: skip


def _summary(lines: Sequence[Line]) -> list[Line]:
    """The mean over the worlds, for each decider."""
    deciders = dict.fromkeys(line.decider for line in lines)
    return [_mean_line([line for line in lines if line.decider == name]) for name in deciders]


def _mean_line(lines: Sequence[Line]) -> Line:
    means: dict[str, Any] = {
        field: _known_mean([getattr(line, field) for line in lines]) for field in MEANS
    }
    n_seeds = min(line.n_seeds for line in lines)
    return replace(lines[0], world="mean of all worlds", n_seeds=n_seeds, **means)


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
