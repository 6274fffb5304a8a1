"""Our MRMR and JMIM against the Python packages a user would find, in one run on the same data.

praznik and FEAST are compiled C and need R or a build of their own; their seconds, measured on
another 2-core machine with data of the same kind, are quoted beside ours.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
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
from core.data.problem import CodedProblem
from core.rivals.method import select_rival

SIZES = ((13910, 128), (70000, 784))
N_CLASSES, N_LEVELS, N_STATES, K = 10, 5, 20, 30
OUT = Path("benchmarks/out/rivals.json")

QUOTED = {
    ("mrmr", 13910): {"praznik": (0.045, False), "FEAST": (0.129, False)},
    ("mrmr", 70000): {"praznik": (2.9, False), "FEAST": (4.6, False)},
    ("jmi", 13910): {"praznik": (0.083, False), "FEAST": (0.221, False)},
    ("jmi", 70000): {"praznik": (5.2, False), "FEAST": (7.7, False)},
    ("jmim", 13910): {"praznik": (0.046, False)},
    ("jmim", 70000): {"praznik": (0.87, False)},
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
    return CodedProblem.of_codes(
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
    """Measure it by F statistic and correlation; two processes, as ours has two threads."""
    frame, labels = pd.DataFrame(problem.codes.astype(float)), pd.Series(problem.labels)
    mrmr_classif(frame[:500], labels[:500], 2, n_jobs=2, show_progress=False)
    return seconds(lambda: mrmr_classif(frame, labels, K, n_jobs=2, show_progress=False), repeats=1)


def feature_engine(problem: CodedProblem) -> float:
    """Measure it by mutual information, in the difference form: the same criterion as ours."""
    frame = pd.DataFrame(problem.codes).rename(columns=str)
    labels = pd.Series(problem.labels)
    selector = MRMR(method="MID", discrete_features=True, max_features=K, n_jobs=2)
    selector.fit(frame[:500], labels[:500])
    return seconds(lambda: selector.fit(frame, labels), repeats=1)


PEERS = {"mrmr-selection": mrmr_selection, "feature-engine": feature_engine}


def peer_seconds(peer: str, n_rows: int, n_features: int, limit: float) -> tuple[float, bool]:
    """Measure a peer in a process of its own; after `limit` it is ended, with all it started."""
    command = [sys.executable, "-m", "benchmarks.rivals", "--peer", peer]
    size = ["--rows", str(n_rows), "--features", str(n_features)]
    process = subprocess.Popen(
        [*command, *size],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # what joblib says of a process that is ended
        text=True,
        start_new_session=True,
    )
    try:
        printed, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate()
        return limit, True
    return float(printed.split()[-1]), False


def measure(limit: float) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for n_rows, n_features in SIZES:
        problem = latent_class_problem(n_rows, n_features)
        mine = {m.name: ours(problem, m) for m in (Mrmr(), Jmi(), Jmim(), Cmim())}
        others = {peer: peer_seconds(peer, n_rows, n_features, limit) for peer in PEERS}
        for method, own in mine.items():
            quoted = QUOTED.get((method, n_rows), {})
            for peer, (theirs, cut) in {**others, **quoted}.items():
                row = {"rows": n_rows, "features": n_features, "method": method, "peer": peer}
                measured = {"ours": own, "theirs": theirs, "ratio": theirs / own, "cut": cut}
                rows.append({**row, **measured, "quoted": peer in quoted})
    return rows


def show(rows: list[dict[str, object]]) -> None:
    table = Table("size", "method", "ours, s", "peer", "peer, s", "times faster")
    for row in rows:
        size, more = f"{row['rows']} x {row['features']}", ">" if row["cut"] else ""
        peer = f"{row['peer']}{' (quoted)' if row['quoted'] else ''}"
        figures = (f"{row['ours']:.3f}", peer, f"{more}{row['theirs']:.3f}")
        table.add_row(size, str(row["method"]), *figures, f"{more}{row['ratio']:.1f}")
    Console().print(table)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=300, help="seconds that a peer may take")
    parser.add_argument("--peer", choices=list(PEERS), help="measure only this one and print it")
    parser.add_argument("--rows", type=int, default=SIZES[0][0])
    parser.add_argument("--features", type=int, default=SIZES[0][1])
    return parser.parse_args()


def main(arguments: argparse.Namespace) -> None:
    if arguments.peer:
        problem = latent_class_problem(arguments.rows, arguments.features)
        print(PEERS[arguments.peer](problem))
        return
    found = measure(arguments.limit)
    show(found)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps({"k": K, "rows": found}, indent=2) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(parse())
