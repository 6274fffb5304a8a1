"""The paper's experiment: accuracy of 1-NN for every K, all methods, all files in a directory.

70/30 splits, the same for all methods; the selection sees the training rows only. One line of JSON
for each dataset, method and split is appended to units.jsonl; what is there with the same options
is not done again. After a change of the code itself, begin with an empty directory.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.accuracy_report import write_report
from benchmarks.tables import CodedTable, read_table
from core.arrays import Ints
from core.config import (
    Cmim,
    Evaluate,
    GlobalFs,
    GsmCpd,
    Iselect,
    Jmi,
    Jmim,
    Method,
    Mrmr,
    Rjmi,
    SelectionConfig,
)
from core.data.problem import CodedProblem
from core.data.resampling import stratified_split
from core.experiments.nearest import evaluate_split
from core.methods import choose

METHODS: dict[str, Method] = {
    "GSM-CPD": GsmCpd(),
    "GSM-CPD, paper": SelectionConfig.paper().method,
    "MRMR": Mrmr(),
    "JMI": Jmi(),
    "JMIM": Jmim(),
    "CMIM": Cmim(),
    "iSelect": Iselect(),
    "GlobalFS": GlobalFs(max_subsets=50_000),
    "RJMI": Rjmi(max_patterns=50),
}


Key = tuple[str, str, int, str]


@dataclass(frozen=True)
class Unit:
    """One selection and its curve."""

    dataset: str
    method: str
    split: int
    options: str
    seconds: float
    accuracy: list[float]

    @property
    def key(self) -> Key:
        """What must not be done twice."""
        return self.dataset, self.method, self.split, self.options


def select(table: CodedTable, rows: Ints, k: int, method: Method) -> list[int]:
    """Select k columns, seeing only `rows`."""
    problem = CodedProblem(
        codes=np.ascontiguousarray(table.codes[rows]),
        n_levels=table.n_levels,
        labels=table.labels[rows],
        n_classes=table.n_classes,
        candidates=tuple(range(table.codes.shape[1])),
    )
    return list(choose(problem, k, method).features)


def measure(
    table: CodedTable, method: str, split_index: int, arguments: argparse.Namespace
) -> Unit:
    config = Evaluate(test_fraction=0.3)
    split = stratified_split(table.labels, config.test_fraction, seed=0, index=split_index)
    k = min(arguments.k, table.codes.shape[1])
    start = time.perf_counter()
    order = select(table, split.train, k, METHODS[method])
    seconds = time.perf_counter() - start
    curve = evaluate_split(order, table.codes, table.ordered, table.labels, split, config)
    options = describe(method, arguments)
    return Unit(table.name, method, split_index, options, seconds, curve.tolist())


def describe(method: str, arguments: argparse.Namespace) -> str:
    return f"{METHODS[method]}, k={arguments.k}, max_rows={arguments.max_rows}"


def read_units(path: Path, arguments: argparse.Namespace) -> list[Unit]:
    """Read what was done with the options of today."""
    lines = path.read_text().splitlines() if path.exists() else []
    units = [Unit(**json.loads(line)) for line in lines]
    return [unit for unit in units if unit.options == describe(unit.method, arguments)]


def missing_units(
    arguments: argparse.Namespace, paths: list[Path], done: set[Key]
) -> Iterator[tuple[Path, str, int]]:
    """Go split by split, so that an interrupted run has all methods to the same depth."""
    for split in range(arguments.splits):
        for path in paths:
            for method in arguments.methods:
                if (path.stem, method, split, describe(method, arguments)) not in done:
                    yield path, method, split


def run(arguments: argparse.Namespace) -> None:
    arguments.out.mkdir(parents=True, exist_ok=True)
    store = arguments.out / "units.jsonl"
    paths = sorted(arguments.data.glob("*.parquet"), key=lambda path: path.stat().st_size)
    paths = [path for path in paths if not arguments.only or path.stem in arguments.only]
    done = {unit.key for unit in read_units(store, arguments)}
    todo = list(missing_units(arguments, paths, done))
    tables: dict[Path, CodedTable] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn()) as bar, store.open("a") as units:
        task = bar.add_task("", total=len(todo))
        for path, method, split in todo:
            bar.update(task, description=f"{path.stem}, {method}, split {split + 1}")
            if path not in tables:
                tables[path] = read_table(path, arguments.max_rows)
            unit = measure(tables[path], method, split, arguments)
            units.write(json.dumps(asdict(unit)) + "\n")
            units.flush()
            bar.advance(task)
    write_report([asdict(unit) for unit in read_units(store, arguments)], arguments.out)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/out/accuracy"))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--k", type=int, default=50)
    parser.add_argument(
        "--max-rows", type=int, default=10_000, help="of larger tables a sample (10000)"
    )
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--only", nargs="+", help="names of datasets")
    return parser.parse_args()


if __name__ == "__main__":
    run(parse())
