"""The estimate of a run's memory beside the peak of a real run, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core import budgets
from core.config import SelectionConfig, method_from_dict
from core.memory import OF_THE_TRUTH, EngineKind, TableShape, estimate_memory

PROGRAM = """
import json, re, sys
from pathlib import Path
import numpy as np
from core import budgets
from core.blocks.engine import MEMORY
from core.blocks.scratch import Scratch
from core.config import SelectionConfig, method_from_dict
from core.data.deferred import Deferred
from core.memory import READ_AT_A_TIME
from core.pipeline import select_features

def memory(kind):
    status = Path("/proc/self/status").read_text()
    return int(re.search(kind + r":\\s+(\\d+)", status)[1]) * 1024

n_rows, n_features, n_levels, n_classes, method, whole, scratch = json.loads(sys.argv[1])
budgets.WHOLE_CELLS = whole
config = SelectionConfig(3, method=method_from_dict(method), n_threads=1)
rng = np.random.default_rng(0)
def table(n_rows, n_features):
    label = rng.integers(0, n_classes, n_rows)
    some = max(1, READ_AT_A_TIME // n_rows)
    ahead = {}
    def read(i):
        # some columns at a time, as from a file
        if i not in ahead:
            ahead.clear()
            for j in range(i, min(i + some, n_features)):
                ahead[j] = (label * (j % 3) + rng.integers(0, n_levels, n_rows)) % n_levels
        return ahead.pop(i)
    columns = {f"x{i}": Deferred(n_rows, False, lambda i=i: read(i)) for i in range(n_features)}
    return {**columns, "y": label}
engine = Scratch(Path(scratch)) if scratch else MEMORY
select_features(table(100, 5), "y", config, engine=engine)
Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
before = memory("VmRSS")
select_features(table(n_rows, n_features), "y", config, engine=engine)
print(memory("VmHWM") - before)
"""

WHOLE_CELLS = 2**23
"""Larger tables are cut into shards, as in earnest those of four times as many cells."""


@pytest.mark.parametrize(
    ("n_rows", "n_features", "n_levels", "n_classes", "method", "engine"),
    [
        (200_000, 20, 5, 2, {"name": "gsm_cpd", "ranks": [10]}, "memory"),
        (600_000, 20, 5, 2, {"name": "gsm_cpd", "ranks": [10]}, "memory"),
        (600_000, 20, 5, 2, {"name": "gsm_cpd", "ranks": [10]}, "file"),
        (1000, 1500, 5, 3, {"name": "gsm_cpd", "ranks": [20], "family": "joint"}, "memory"),
        (30_000, 60, 5, 5, {"name": "gsm_cpd", "ranks": [10, 20]}, "memory"),
        (20_000, 40, 5, 2, {"name": "gsm_cpd", "ranks": [10, 80], "family": "joint"}, "memory"),
        (200_000, 40, 4, 2, {"name": "mrmr"}, "memory"),
        (200_000, 40, 4, 2, {"name": "mrmr"}, "file"),
        (3000, 600, 5, 3, {"name": "jmi"}, "memory"),
        (3000, 600, 5, 3, {"name": "jmim"}, "memory"),
        (100_000, 30, 5, 2, {"name": "cmim"}, "memory"),
        (100_000, 20, 5, 2, {"name": "rjmi"}, "memory"),
        (100_000, 20, 5, 2, {"name": "iselect"}, "memory"),
        (100_000, 20, 5, 2, {"name": "globalfs", "max_subsets": 40}, "memory"),
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
    monkeypatch.setattr(budgets, "WHOLE_CELLS", WHOLE_CELLS)
    if method["name"] == "gsm_cpd":
        method = {**method, "max_iter": 3, "n_configurations": 256}
    scratch = str(tmp_path) if engine == "file" else None
    order = json.dumps([n_rows, n_features, n_levels, n_classes, method, WHOLE_CELLS, scratch])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, order], capture_output=True, text=True, check=True
    )
    shape = TableShape(n_rows, [n_levels] * n_features, n_classes)
    estimate = estimate_memory(shape, SelectionConfig(3, method=method_from_dict(method)), engine)
    assert 1 < estimate / int(done.stdout) < OF_THE_TRUTH
