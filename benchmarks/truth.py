"""Does it say what is true? Worlds with known relevant columns; ours beside Boruta and RFECV.

One line of JSON for each world, seed and decider is appended to units.jsonl in the directory
--out; what is there from the same code is not done again.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.deciders import DECIDERS, version_of
from benchmarks.fresh_rows import information_on_fresh, learn_anew
from benchmarks.truth_report import write_report
from benchmarks.units import OURS, Document, do_units, read_units
from benchmarks.world import World
from benchmarks.worlds import WORLDS
from core.results.selection import SelectionResult
from core.warm import warm_kernels


class Task(NamedTuple):
    """One world drawn once, and who decides on it."""

    world: str
    decider: str
    seed: int
    version: str


@dataclass(frozen=True)
class Unit:
    """What was chosen, how much of it is noise, and how much of what is relevant is there.

    `cpu` is the processor time of all threads: it matters where others use the machine too.
    `information` is what ours claims, `in_hand` what this very choice tells on fresh rows.
    """

    world: str
    decider: str
    seed: int
    version: str
    chosen: list[str]
    false: float
    found: float
    seconds: float
    cpu: float
    information: float | None
    standard_error: float | None
    in_hand: float | None


def measure(task: Task) -> Document:
    world = WORLDS[task.world]
    table = world.table(task.seed)
    start, start_cpu = time.perf_counter(), time.process_time()
    decision = DECIDERS[task.decider](table)
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    chosen = decision.chosen
    scores = (world.false_share(chosen), world.found(chosen), seconds, cpu)
    return asdict(Unit(*task, chosen, *scores, *_claim(decision.result, world, task.seed)))


def _claim(
    result: SelectionResult | None, world: World, seed: int
) -> tuple[float, float, float] | tuple[None, None, None]:
    if result is None or (claim := result.held_out) is None:
        return None, None, None
    k = result.suggested_k
    told = float(information_on_fresh(result, world, seed)[k])
    return claim.information[k], claim.standard_error[k], told


def tasks(arguments: argparse.Namespace) -> Iterator[Task]:
    """Seed by seed, so that an interrupted run has all worlds to the same depth."""
    for seed in range(arguments.seeds):
        for world in arguments.worlds:
            for decider in arguments.methods:
                yield Task(world, decider, seed, version_of(decider))


def run(arguments: argparse.Namespace) -> None:
    store = arguments.out / "units.jsonl"
    wanted = set(tasks(arguments))
    done = {_task(unit) for unit in read_units(store)}
    todo = [task for task in tasks(arguments) if task not in done]
    if any(task.decider == OURS for task in todo):
        warm_kernels()
    do_units(todo, measure, lambda task: f"{task.world}, {task.decider}, seed {task.seed}", store)
    units = [unit for unit in read_units(store) if _task(unit) in wanted]
    fresh = learn_anew(units, arguments.out / "fresh.jsonl")
    write_report(units, fresh, arguments.out)


def _task(unit: Document) -> Task:
    return Task(*(unit[field] for field in Task._fields))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.truth", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/out/truth"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--worlds", nargs="+", choices=list(WORLDS), default=list(WORLDS))
    parser.add_argument("--methods", nargs="+", choices=list(DECIDERS), default=list(DECIDERS))
    return parser.parse_args()


if __name__ == "__main__":
    run(parse())
