"""The estimate for columns of text beside the peak of reading and selecting, as a worker does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from app.datasets.kinds.findings import Finding
from app.datasets.profile import profile
from app.jobs.memory import shape_of
from app.jobs.specification import Specification, config_of
from core.budgets import HELD_ROWS
from core.memory import OF_THE_TRUTH, estimate_memory

PROGRAM = """
import json, re, sys
from pathlib import Path
import numpy as np
from app.datasets.columns import defer_columns
from core.config import SelectionConfig, method_from_dict
from core.pipeline import select_features

def memory(kind):
    status = Path("/proc/self/status").read_text()
    return int(re.search(kind + r":\\s+(\\d+)", status)[1]) * 1024

path, method, excluded, names = json.loads(sys.argv[1])
config = SelectionConfig(1, method=method_from_dict(method), n_threads=1)
small = {f"x{i}": np.arange(100) % (i + 2) for i in range(5)}
select_features({**small, "y": np.arange(100) % 2}, "y", config)
with open(path, "rb") as file:
    column = defer_columns(file, names)["y"]
    column.read(0, len(column))
Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
before = memory("VmRSS")
with open(path, "rb") as file:
    columns = defer_columns(file, excluded)
    select_features({n: c for n, c in columns.items() if n not in excluded}, "y", config)
print(memory("VmHWM") - before)
"""
N_ROWS = 100_000


def ids(n_columns: int, length: int, n_rows: int = N_ROWS) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    numbers = [rng.permutation(n_rows) for _ in range(n_columns)]
    columns = {f"x{i}": [f"{n:0{length}}" for n in column] for i, column in enumerate(numbers)}
    return {**columns, "number": rng.normal(size=n_rows)}


def words(n_columns: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    levels = np.array([f"level number {i}" for i in range(40)], dtype=object)
    columns = {f"x{i}": levels[rng.integers(0, 40, N_ROWS)] for i in range(n_columns)}
    columns["x0"][0] = "x" * 250
    return columns


def words_and_ids() -> dict[str, Any]:
    return {**words(8), **{f"z{i}": column for i, column in enumerate(ids(4, 64).values())}}


FOUND = Finding(detected="category", why="")


@pytest.mark.parametrize(
    ("make", "excluded"),
    [
        (partial(words, 12), []),
        (partial(ids, 4, 32), []),
        (partial(ids, 3, 200), []),
        (partial(ids, 1, 32, HELD_ROWS * 5 // 4), []),
        (words_and_ids, "z"),
    ],
    ids=["words", "ids", "long ids", "ids that are not held", "excluded ids"],
)
def test_text(make: Callable[[], dict[str, Any]], excluded: Any, tmp_path: Path) -> None:
    table = make()
    path, without = tmp_path / "columns.parquet", [n for n in table if n[0] in excluded]
    n_rows = len(next(iter(table.values())))
    label = np.random.default_rng(1).integers(0, 2, n_rows)
    frame = pl.DataFrame({**table, "y": label})
    frame.write_parquet(path, compression="zstd", row_group_size=2**16)
    order = json.dumps([str(path), {"name": "mrmr"}, without, list(table)])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, order], capture_output=True, text=True, check=True
    )
    fields = {"dataset_id": f"ds_{0:032}", "target": "y", "k": 1, "method": {"name": "mrmr"}}
    specification = Specification.model_validate({**fields, "columns": {"exclude": without}})
    columns = list(profile(path, n_rows, (), dict.fromkeys([*table, "y"], FOUND)))
    config = config_of(specification)
    estimate = estimate_memory(shape_of(config, "y", n_rows, columns), config)
    assert 1 < estimate / int(done.stdout) < OF_THE_TRUTH
