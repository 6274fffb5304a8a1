"""The estimate of a run's memory beside the peak of a real run, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from core.config import SelectionConfig, method_from_dict
from core.memory import OF_THE_TRUTH, TableShape, estimate_memory

PROGRAM = """
import json, re, sys
from pathlib import Path
import numpy as np
from core.config import SelectionConfig, method_from_dict
from core.pipeline import select_features

def memory(kind):
    status = Path("/proc/self/status").read_text()
    return int(re.search(kind + r":\\s+(\\d+)", status)[1]) * 1024

n_rows, n_features, n_levels, n_classes, method = json.loads(sys.argv[1])
config = SelectionConfig(3, method=method_from_dict(method), n_threads=1)
rng = np.random.default_rng(0)
def table(n_rows, n_features):
    label = rng.integers(0, n_classes, n_rows)
    columns = {
        f"x{i}": (label * (i % 3) + rng.integers(0, n_levels, n_rows)) % n_levels
        for i in range(n_features)
    }
    return {**columns, "y": label}
select_features(table(100, 5), "y", config)
Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
before = memory("VmRSS")
select_features(table(n_rows, n_features), "y", config)
print(memory("VmHWM") - before)
"""


@pytest.mark.parametrize(
    ("n_rows", "n_features", "n_levels", "n_classes", "method"),
    [
        (200_000, 20, 5, 2, {"name": "gsm_cpd", "ranks": [10]}),
        (1000, 1500, 5, 3, {"name": "gsm_cpd", "ranks": [20], "family": "joint"}),
        (30_000, 60, 5, 5, {"name": "gsm_cpd", "ranks": [10, 20]}),
        (20_000, 40, 5, 2, {"name": "gsm_cpd", "ranks": [10, 80], "family": "joint"}),
        (200_000, 40, 4, 2, {"name": "mrmr"}),
        (3000, 600, 5, 3, {"name": "jmi"}),
        (3000, 600, 5, 3, {"name": "jmim"}),
        (100_000, 30, 5, 2, {"name": "cmim"}),
        (100_000, 20, 5, 2, {"name": "rjmi"}),
        (100_000, 20, 5, 2, {"name": "iselect"}),
        (100_000, 20, 5, 2, {"name": "globalfs", "max_subsets": 40}),
    ],
)
def test_the_estimate_is_above_the_peak_and_near(
    n_rows: int, n_features: int, n_levels: int, n_classes: int, method: dict[str, Any]
) -> None:
    if method["name"] == "gsm_cpd":
        method = {**method, "max_iter": 3, "n_configurations": 256}
    order = json.dumps([n_rows, n_features, n_levels, n_classes, method])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, order], capture_output=True, text=True, check=True
    )
    shape = TableShape(n_rows, [n_levels] * n_features, n_classes)
    estimate = estimate_memory(shape, SelectionConfig(3, method=method_from_dict(method)))
    assert 1 < estimate / int(done.stdout) < OF_THE_TRUTH
