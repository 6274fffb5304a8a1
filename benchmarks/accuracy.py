"""How good is the choice? Four judges, all methods, every Parquet file in a directory.

70/30 splits, the same for all methods; the selection, and whatever is learnt about a column, sees
the training rows only. One line of JSON for each dataset, method and split is appended to
units.jsonl; what is there from the same code and options is not done again, and an order of columns
that was judged before is not judged again.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from benchmarks.accuracy_report import write_report
from benchmarks.choosers import CHOOSERS, version_of
from benchmarks.judges import judge
from benchmarks.tables import Part, RawTable, read_table
from benchmarks.units import Document, do_units, read_units
from core.warm import warm_kernels

Order = tuple[str, int, int, tuple[str, ...]]
Curves = dict[str, list[float]]


class Task(NamedTuple):
    """One selection; everything that could change it."""

    dataset: str
    method: str
    split: int
    k: int
    max_rows: int
    version: str


class Trials:
    """Selections on the files of a directory, and what the judges said of them so far."""

    def __init__(self, directory: Path, units: list[Document]) -> None:
        self._directory = directory
        self._judged: dict[Order, Curves] = {_order(unit): unit["accuracy"] for unit in units}
        self._read = lru_cache(maxsize=None)(self._read_file)

    def _read_file(self, dataset: str, max_rows: int) -> RawTable:
        return read_table(self._directory / f"{dataset}.parquet", max_rows)

    def hold(self, task: Task) -> Document:
        """Select and judge."""
        part = Part.of(self._read(task.dataset, task.max_rows), task.split)
        start = time.perf_counter()
        chosen = CHOOSERS[task.method](part, min(task.k, len(part.train)))
        unit = {**task._asdict(), "seconds": time.perf_counter() - start, "chosen": chosen}
        if (order := _order(unit)) not in self._judged:
            self._judged[order] = judge(part, chosen)
        return {**unit, "accuracy": self._judged[order]}


def _order(unit: Document) -> Order:
    return unit["dataset"], unit["split"], unit["max_rows"], tuple(unit["chosen"])


def _task(unit: Document) -> Task:
    return Task(*(unit[field] for field in Task._fields))


def tasks(arguments: argparse.Namespace, datasets: list[str]) -> Iterator[Task]:
    """Split by split, so that an interrupted run has all methods to the same depth."""
    versions = {method: version_of(method) for method in arguments.methods}
    for split in range(arguments.splits):
        for dataset in datasets:
            for method, version in versions.items():
                yield Task(dataset, method, split, arguments.k, arguments.max_rows, version)


def run(arguments: argparse.Namespace) -> None:
    store = arguments.out / "units.jsonl"
    paths = sorted(arguments.data.glob("*.parquet"), key=lambda path: path.stat().st_size)
    datasets = [p.stem for p in paths if not arguments.only or p.stem in arguments.only]
    wanted, units = list(tasks(arguments, datasets)), read_units(store)
    done = {_task(unit) for unit in units}
    todo = [task for task in wanted if task not in done]
    if todo:
        warm_kernels()
    trials = Trials(arguments.data, units)
    do_units(todo, trials.hold, lambda t: f"{t.dataset}, {t.method}, split {t.split + 1}", store)
    write_report([unit for unit in read_units(store) if _task(unit) in set(wanted)], arguments.out)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/out/accuracy"))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--k", type=int, default=50)
    parser.add_argument(
        "--max-rows", type=int, default=10_000, help="of larger tables a sample (10000)"
    )
    parser.add_argument("--methods", nargs="+", choices=list(CHOOSERS), default=list(CHOOSERS))
    parser.add_argument("--only", nargs="+", help="names of datasets")
    return parser.parse_args()


if __name__ == "__main__":
    run(parse())
