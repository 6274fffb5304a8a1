"""Our MRMR and JMIM against the Python packages a user would find, in one run on the same data.

praznik and FEAST are compiled C and need R or a build of their own; their seconds, measured on
another 2-core machine with data of the same kind, are quoted beside ours.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from feature_engine.selection import MRMR
from mrmr import mrmr_classif
from rich.console import Console
from rich.table import Table

from core.config import Cmim, Jmi, Jmim, Mrmr, Rival
from core.rivals import CodedProblem, select_rival

SIZES = ((13910, 128), (70000, 784))
N_CLASSES, N_LEVELS, N_STATES, K = 10, 5, 20, 30
OUT = Path("benchmarks/out/rivals.json")

QUOTED = {
    ("mrmr", 13910): {"praznik": 0.045, "FEAST": 0.129},
    ("mrmr", 70000): {"praznik": 2.9, "FEAST": 4.6},
    ("jmi", 13910): {"praznik": 0.083, "FEAST": 0.221},
    ("jmi", 70000): {"praznik": 5.2, "FEAST": 7.7},
    ("jmim", 13910): {"praznik": 0.046},
    ("jmim", 70000): {"praznik": 0.87},
}


def latent_class_problem(n_rows: int, n_features: int, seed: int = 0) -> CodedProblem:
    """Codes from a random latent class model; the label follows the state."""
    rng = np.random.default_rng(seed)
    cuts = rng.dirichlet(np.full(N_LEVELS, 0.7), (N_STATES, n_features)).cumsum(axis=2)
    states = rng.integers(0, N_STATES, n_rows)
    codes = np.empty((n_rows, n_features), dtype=np.uint8)
    for row, state in enumerate(states):
        drawn = rng.random(n_features)[:, None]
        codes[row] = np.minimum((drawn > cuts[state]).sum(axis=1), N_LEVELS - 1)
    return CodedProblem(
        codes=codes,
        n_levels=np.full(n_features, N_LEVELS),
        labels=(states % N_CLASSES).astype(np.uint8),
        n_classes=N_CLASSES,
        candidates=tuple(range(n_features)),
    )


def seconds(run: Callable[[], object], repeats: int) -> float:
    """Give the best of several runs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def ours(problem: CodedProblem, method: Rival) -> float:
    select_rival(problem, 2, method)
    return seconds(lambda: select_rival(problem, K, method), repeats=5)


def mrmr_selection(problem: CodedProblem) -> float:
    """By F statistic and correlation, its only cheap choice; two processes, as ours has threads."""
    frame, labels = pd.DataFrame(problem.codes.astype(float)), pd.Series(problem.labels)
    mrmr_classif(frame[:500], labels[:500], 2, n_jobs=2, show_progress=False)
    return seconds(lambda: mrmr_classif(frame, labels, K, n_jobs=2, show_progress=False), repeats=1)


def feature_engine(problem: CodedProblem) -> float:
    """By mutual information of discrete values, in the difference form: the same criterion."""
    frame = pd.DataFrame(problem.codes).rename(columns=str)
    labels = pd.Series(problem.labels)
    selector = MRMR(method="MID", discrete_features=True, max_features=K, n_jobs=2)
    selector.fit(frame[:500], labels[:500])
    return seconds(lambda: selector.fit(frame, labels), repeats=1)


def measure() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for n_rows, n_features in SIZES:
        problem = latent_class_problem(n_rows, n_features)
        others = {
            "mrmr-selection": mrmr_selection(problem),
            "feature-engine": feature_engine(problem),
        }
        for method in (Mrmr(), Jmi(), Jmim(), Cmim()):
            mine = ours(problem, method)
            quoted = QUOTED.get((method.name, n_rows), {})
            for peer, theirs in {**others, **quoted}.items():
                row = {"rows": n_rows, "features": n_features, "method": method.name, "peer": peer}
                measured = {"ours": mine, "theirs": theirs, "ratio": theirs / mine}
                rows.append({**row, **measured, "quoted": peer in quoted})
    return rows


def show(rows: list[dict[str, object]]) -> None:
    table = Table("size", "method", "ours, s", "peer", "peer, s", "times faster")
    for row in rows:
        size = f"{row['rows']} x {row['features']}"
        peer = f"{row['peer']}{' (quoted)' if row['quoted'] else ''}"
        figures = (f"{row['ours']:.3f}", peer, f"{row['theirs']:.3f}", f"{row['ratio']:.1f}")
        table.add_row(size, str(row["method"]), *figures)
    Console().print(table)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    found = measure()
    show(found)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps({"k": K, "rows": found}, indent=2) + "\n")
