"""What it costs in accuracy that a sample of the rows decides: the choice with it and without."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import process_time
from unittest.mock import patch

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

from benchmarks.figures import Figure
from benchmarks.synthetic import latent_class_problem
from benchmarks.tables import read_table
from core.arrays import Floats, Ints, Values
from core.config import SelectionConfig
from core.data.draws import draw_rows
from core.data.resampling import stratified_split
from core.pipeline import select_features

LABEL = "label"
JUDGED = (5, 10, 20)
JUDGE_ROWS = 20_000
Columns = Mapping[str, Values]


def measure_sampling(name: str, columns: Columns, labels: Values, n_threads: int) -> Figure:
    """Choose from 70 % of the rows both ways, and let trees judge the choices on the others."""
    split = stratified_split(labels, 0.3, seed=0, index=0)
    train = {name: values[split.train] for name, values in columns.items()}
    config = SelectionConfig(JUDGED[-1], n_threads=n_threads)
    chosen, seconds = {}, {}
    for way in ("sample", "all"):
        with _all_rows_decide(way == "all"):
            start = process_time()
            result = select_features({**train, LABEL: labels[split.train]}, LABEL, config)
            chosen[way], seconds[way] = result.names, process_time() - start
    right = {way: _right(columns, labels, split.train, split.test, chosen[way]) for way in chosen}
    lost = (right["all"] - right["sample"]).mean(axis=0)
    return Figure(
        part="sampling",
        what="accuracy lost because a sample decides",
        size=f"{name}, {len(split.train)} x {len(columns)}",
        value=float(lost.mean()),
        unit="of trees' accuracy",
        target=2 * float(lost.std(ddof=1) / np.sqrt(len(lost))),
        sense="at most",
        details={
            "accuracy": float(right["sample"].mean()),
            "accuracy_if_all_rows_decide": float(right["all"].mean()),
            "chosen_alike": len(set(chosen["sample"]) & set(chosen["all"])),
            "sample_cpu_s": seconds["sample"],
            "all_cpu_s": seconds["all"],
        },
    )


def measure_made(n_rows: int, n_threads: int) -> Figure:
    """Of a made table."""
    problem = latent_class_problem(n_rows, 100, weak=True)
    columns = {f"x{n}": np.ascontiguousarray(codes) for n, codes in enumerate(problem.codes.T)}
    return measure_sampling("latent classes", columns, problem.labels, n_threads)


def measure_table(path: Path, n_threads: int) -> Figure:
    """Of a Parquet file, the label last."""
    table = read_table(path, max_rows=10**9)
    return measure_sampling(table.name, table.columns, table.labels, n_threads)


@contextmanager
def _all_rows_decide(yes: bool) -> Iterator[None]:
    """As if tables of any size were small."""
    with ExitStack() as changed:
        for module in ("core.crossfit.folds", "core.budgets") if yes else ():
            changed.enter_context(patch(f"{module}.CROSS_ROWS", sys.maxsize))
        yield


def _right(columns: Columns, labels: Values, train: Ints, test: Ints, order: list[str]) -> Floats:
    """(sizes, n_test) whether trees on the first K columns say what each row is."""
    seen = train[draw_rows(labels[train], min(JUDGE_ROWS, len(train)), seed=0)]
    asked = test[draw_rows(labels[test], min(JUDGE_ROWS, len(test)), seed=0)]
    table = np.column_stack([columns[name] for name in order])
    said = []
    for k in JUDGED:
        trees = ExtraTreesClassifier(50, random_state=0).fit(table[seen, :k], labels[seen])
        said.append(trees.predict(table[asked, :k]) == labels[asked])
    return np.array(said, dtype=np.float64)
