"""The estimate of a run's memory beside the peak of a real run, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core import budgets
from core.config import Compare, Evaluate, Mrmr, SelectionConfig, method_from_dict
from core.memory import OF_THE_TRUTH, EngineKind, TableShape, estimate_memory

PROGRAM = """
import json, re, sys
from functools import partial
from pathlib import Path
import numpy as np
from core import budgets
from core.blocks.engine import MEMORY
from core.blocks.scratch import Scratch
from core.callbacks import ignore
from core.config import Compare, Evaluate, SelectionConfig, method_from_dict
from core.data.deferred import Deferred
from core.data.preparation import prepare
from core.experiments import judges
from core.experiments.comparison import compare_methods
from core.experiments.ground import Ground
from core.memory import READ_AT_A_TIME
from core.pipeline import select_features

def memory(kind):
    status = Path("/proc/self/status").read_text()
    return int(re.search(kind + r":\\s+(\\d+)", status)[1]) * 1024

n_rows, n_features, n_levels, n_classes, methods, whole, scratch, trials = json.loads(sys.argv[1])
budgets.WHOLE_CELLS = whole
judges.MOST_DISTANCES = 10**8
method, *others = [method_from_dict(method) for method in methods]
evaluate = Evaluate(**trials) if trials and not others else None
config = SelectionConfig(3, method=method, evaluate=evaluate, n_threads=1)
compare = Compare(methods=(method, *others), **trials) if others else None
rng = np.random.default_rng(0)
def table(n_rows, n_features):
    label = rng.integers(0, n_classes, n_rows, dtype=np.uint8)
    some = max(1, READ_AT_A_TIME // n_rows)
    ahead = {}
    def make(i, first, last):
        drawn = np.random.default_rng([i, first]).integers(0, n_levels, last - first)
        return (label[first:last] * (i % 3) + drawn) % n_levels
    def read(i, first, last):
        # some columns at a time, as from a file
        if last - first < n_rows:
            return make(i, first, last)
        if i not in ahead:
            ahead.clear()
            ahead.update({j: make(j, 0, n_rows) for j in range(i, min(i + some, n_features))})
        return ahead.pop(i)
    columns = {f"x{i}": Deferred(n_rows, False, partial(read, i)) for i in range(n_features)}
    return {**columns, "y": label}
engine = Scratch(Path(scratch)) if scratch else MEMORY
def run(columns):
    if compare is None:
        select_features(columns, "y", config, engine=engine)
        return
    prepared = prepare(columns, "y", config, ignore, engine)
    compare_methods(Ground.of(columns, prepared, compare.evaluate), 3, compare)
run(table(100, 5))
Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
before = memory("VmRSS")
run(table(n_rows, n_features))
print(memory("VmHWM") - before)
"""

WHOLE_CELLS = 2**23
"""Larger tables are cut into shards, as in earnest those of four times as many cells."""


@pytest.mark.parametrize(
    ("n_rows", "n_features", "n_levels", "n_classes", "method", "engine"),
    [
        (600_000, 20, 5, 2, {"name": "gsm_cpd", "ranks": [10]}, "memory"),
        (600_000, 20, 5, 2, {"name": "gsm_cpd", "ranks": [10]}, "file"),
        (400_000, 5, 5, 2, {"name": "gsm_cpd", "ranks": [80]}, "memory"),
        (400_000, 8, 10, 2, {"name": "gsm_cpd", "ranks": [80]}, "memory"),
        (1_000_000, 8, 10, 2, {"name": "gsm_cpd", "ranks": [80]}, "memory"),
        (8_000_000, 6, 5, 2, {"name": "gsm_cpd", "ranks": [10]}, "memory"),
        (8_000_000, 6, 5, 2, {"name": "gsm_cpd", "ranks": [10]}, "file"),
        (8_000_000, 6, 5, 2, {"name": "cmim"}, "file"),
        (1000, 1500, 5, 3, {"name": "gsm_cpd", "ranks": [20], "family": "joint"}, "memory"),
        (30_000, 60, 16, 5, {"name": "gsm_cpd", "ranks": [10, 20]}, "memory"),
        (20_000, 40, 5, 2, {"name": "gsm_cpd", "ranks": [80], "family": "joint"}, "memory"),
        (200_000, 40, 4, 2, {"name": "mrmr"}, "memory"),
        (200_000, 40, 4, 2, {"name": "mrmr"}, "file"),
        (3000, 600, 5, 3, {"name": "jmi"}, "memory"),
        (100_000, 30, 5, 2, {"name": "cmim"}, "memory"),
        (100_000, 20, 5, 2, {"name": "iselect"}, "memory"),
        (100_000, 20, 5, 2, {"name": "globalfs", "max_subsets": 40}, "memory"),
        (4_000_000, 6, 5, 2, {"name": "iselect"}, "file"),
        (4_000_000, 6, 5, 2, {"name": "globalfs", "max_subsets": 40}, "file"),
    ],
)
def test_the_estimate_is_above_the_peak_and_near(
    n_rows: int,
    n_features: int,
    n_levels: int,
    n_classes: int,
    method: dict[str, Any],
    engine: EngineKind,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shape = TableShape(n_rows, [n_levels] * n_features, n_classes)
    ratio = of_the_peak(shape, [method], engine, {}, tmp_path, monkeypatch)
    assert 1 < ratio < OF_THE_TRUTH


GSM = {"name": "gsm_cpd", "ranks": [10]}
MRMR, JMI = {"name": "mrmr"}, {"name": "jmi"}


@pytest.mark.parametrize(
    ("n_rows", "n_features", "methods", "engine", "values"),
    [
        (20_000, 60, [GSM], "memory", "codes"),
        (20_000, 60, [GSM], "memory", "raw"),
        (60_000, 40, [MRMR], "memory", "raw"),
        (20_000, 60, [GSM, MRMR], "memory", "codes"),
        (60_000, 40, [JMI, MRMR], "memory", "raw"),
        (150_000, 70, [MRMR, GSM], "memory", "codes"),
        (150_000, 70, [MRMR, GSM], "file", "codes"),
    ],
)
def test_so_it_is_where_trials_are_held(
    n_rows: int,
    n_features: int,
    methods: list[dict[str, Any]],
    engine: EngineKind,
    values: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shape = TableShape(n_rows, [5] * n_features, 2)
    trials = {"n_splits": 2, "values": values}
    ratio = of_the_peak(shape, methods, engine, trials, tmp_path, monkeypatch)
    assert 1 < ratio < OF_THE_TRUTH


@pytest.mark.parametrize("n_rows", [30_000, 400_000, 600_000, 6_500_000, 7_000_000])
def test_rows_of_few_columns_are_charged_what_reading_them_takes(n_rows: int) -> None:
    """However many states they are fitted with: no more of them differ than columns can tell."""
    needed = estimate_memory(TableShape(n_rows, [5] * 5, 2), SelectionConfig(3))
    read = estimate_memory(TableShape(n_rows, [5] * 5, 2), SelectionConfig(3, method=Mrmr()))
    assert needed < read + (128 << 20)


def of_the_peak(
    shape: TableShape,
    methods: list[dict[str, Any]],
    engine: EngineKind,
    trials: dict[str, Any],
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> float:
    """The estimate, as a multiple of what a process of its own was seen to hold at most."""
    monkeypatch.setattr(budgets, "WHOLE_CELLS", WHOLE_CELLS)
    quick = {"max_iter": 3, "n_configurations": 256}
    methods = [{**method, **(quick if method["name"] == "gsm_cpd" else {})} for method in methods]
    scratch = str(directory) if engine == "file" else None
    sizes = (shape.n_rows, shape.n_features, shape.n_levels[0], shape.n_classes)
    order = json.dumps([*sizes, methods, WHOLE_CELLS, scratch, trials])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, order], capture_output=True, text=True, check=True
    )
    first, *others = [method_from_dict(method) for method in methods]
    evaluate = Evaluate(**trials) if trials and not others else None
    compare = Compare(methods=(first, *others), **trials) if others else None
    config = SelectionConfig(3, method=first, evaluate=evaluate)
    return estimate_memory(shape, config, engine, compare) / int(done.stdout)
