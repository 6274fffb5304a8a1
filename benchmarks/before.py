"""What the defaults cost against an earlier version of the history, on the same tables.

By default that is the last version which held out nothing but for the rank. Both sides run one
after the other, in processes of their own, with one thread; processor time counts.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console

from benchmarks.figures import Figure, show, write
from benchmarks.plan import Size
from benchmarks.synthetic import latent_class_problem

FIRST = "1f374d3"
MOST = 2.5
SIZES = Size(5000, 40), Size(13_910, 128)
OUT = Path("benchmarks/out/before.json")
NOTE = "Processor time of one thread, the best of two runs of each side."
# What both versions understand: it runs in the directory of either.
PROGRAM = """
import json, sys, time
import numpy as np
from core.config import SelectionConfig
from core.pipeline import select_features
path, k = sys.argv[1:]
with np.load(path) as arrays:
    columns = {name: arrays[name] for name in arrays.files}
config = SelectionConfig(k if k == "auto" else int(k), n_threads=1)
select_features({name: values[:500] for name, values in columns.items()}, "label", config)
best = float("inf")
for _ in range(2):
    start = time.process_time()
    result = select_features(columns, "label", config)
    best = min(best, time.process_time() - start)
print(json.dumps([best, len(result.selected)]))
"""


def measure(revision: str, sizes: tuple[Size, ...]) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as directory:
        before, table = Path(directory) / "before", Path(directory) / "table.npz"
        archive = subprocess.check_output(["git", "archive", revision, "core"])
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(before, filter="data")
        for size in sizes:
            for kind in ("levels", "numbers"):
                _write_table(size, kind, table)
                for k in ("20", "auto"):
                    yield _compare(before, table, k, size, kind)


def _write_table(size: Size, kind: str, path: Path) -> None:
    problem = latent_class_problem(size.n_rows, size.n_features, size.n_levels)
    codes = problem.codes.astype(np.int64)
    shift = np.random.default_rng(1).random(codes.shape) if kind == "numbers" else 0
    columns = {f"x{n}": column for n, column in enumerate((codes + shift).T)}
    np.savez(path, label=problem.labels, **columns)


def _compare(before: Path, table: Path, k: str, size: Size, kind: str) -> Figure:
    (now_s, n_now), (before_s, n_before) = (_run(at, table, k) for at in (Path.cwd(), before))
    return Figure(
        part="before",
        what=f"select_features, defaults, {kind}, k={k}, against before",
        size=str(size),
        value=now_s / before_s,
        unit="times",
        target=MOST,
        sense="at most",
        details={"now_s": now_s, "before_s": before_s, "chosen": n_now, "chosen_before": n_before},
    )


def _run(directory: Path, table: Path, k: str) -> tuple[float, int]:
    command = [sys.executable, "-c", PROGRAM, str(table), k]
    printed = subprocess.check_output(command, cwd=directory, text=True)
    seconds, n_chosen = json.loads(printed.splitlines()[-1])
    return seconds, n_chosen


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.before", description=__doc__)
    parser.add_argument("--revision", default=FIRST)
    parser.add_argument("--out", type=Path, default=OUT, help="where the JSON goes")
    options = parser.parse_args()
    console = Console(width=None if Console().is_terminal else 160)
    figures: list[Figure] = []
    for figure in measure(options.revision, SIZES):
        show([figure], console)
        figures.append(figure)
        write(figures, options.out, {}, NOTE)


if __name__ == "__main__":
    main()
