"""Selections by every method on small tables of every kind, and what is recorded of them.

`python -m tests.core.fingerprints` writes tests/data/fingerprints.json anew: only when a result is
meant to change.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.config import (
    Bootstrap,
    Cmim,
    Columns,
    Compare,
    Discretize,
    Evaluate,
    GlobalFs,
    GsmCpd,
    Iselect,
    Jmi,
    Jmim,
    Mrmr,
    Rjmi,
    SelectionConfig,
)
from core.pipeline import select_features
from core.results.selection import SelectionResult

RECORD = Path(__file__).parents[1] / "data" / "fingerprints.json"
QUICK = GsmCpd(ranks=(8,), n_models=2, n_init=2, max_iter=60)
SAMPLED = GsmCpd(ranks=(6, 12), n_folds=3, n_configurations=64)
TWICE = Evaluate(n_splits=2)

Table = dict[str, Any]


def classes(seed: int, n_rows: int = 240) -> Table:
    """Text, truths, whole and real numbers with gaps, all about the class `y`, and noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    seen = [np.where(rng.random(n_rows) < p, y, rng.integers(0, 3, n_rows)) for p in (0.8, 0.6)]
    gappy = y + rng.normal(0, 0.8, n_rows)
    gappy[rng.random(n_rows) < 0.15] = np.nan
    text = np.array(["red", "green", "blue"], dtype=object)[seen[0]]
    text[rng.random(n_rows) < 0.1] = None
    return {
        "text": text,
        "flag": (y == 2) ^ (rng.random(n_rows) < 0.2),
        "gappy": gappy,
        "count": seen[1] + rng.integers(0, 2, n_rows),
        "copy": text,
        "sum": y + rng.normal(0, 1.2, n_rows),
        "noise": rng.normal(size=n_rows),
        "coin": rng.integers(0, 2, n_rows),
        "still": np.ones(n_rows),
        "weight": np.round(rng.uniform(0, 3, n_rows), 2),
        "y": np.array(["a", "b", "c"])[y],
    }


def numbers(seed: int, n_rows: int = 260) -> Table:
    """A number `y` that follows some of ten others."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 10))
    y = 2 * x[:, 0] + x[:, 1] - 1.5 * x[:, 2] + 0.3 * rng.normal(size=n_rows)
    return {**{f"x{n}": column for n, column in enumerate(x.T)}, "y": y}


@dataclass(frozen=True)
class Case:
    """One call, or one and the experiments that complete it."""

    table: Callable[[int], Table]
    config: SelectionConfig
    compare: Compare | None = None
    bootstrap: Bootstrap | None = None

    def run(self) -> SelectionResult:
        columns = self.table(self.config.seed)
        return select_features(
            columns, "y", self.config, compare=self.compare, bootstrap=self.bootstrap
        )


def config(k: Any, seed: int = 0, **options: Any) -> SelectionConfig:
    return SelectionConfig(k, seed=seed, n_threads=1, **options)


def weighted(k: Any, seed: int, **options: Any) -> SelectionConfig:
    return config(k, seed, weight_column="weight", **options)


CASES = {
    "default": Case(classes, config(5, evaluate=TWICE)),
    "default, auto": Case(classes, config("auto", 1)),
    "default, numbers": Case(numbers, config(4, 2, evaluate=Evaluate(n_splits=2, values="raw"))),
    "paper": Case(classes, SelectionConfig.paper(4, seed=3, n_threads=1)),
    "step": Case(classes, config(4, 4, method=GsmCpd(ranks=(9,), remodel="step"))),
    "candidate": Case(numbers, config(3, 5, method=GsmCpd(ranks=(9,), remodel="candidate"))),
    "sampled": Case(numbers, config(6, 6, method=SAMPLED)),
    "naive, latent": Case(
        classes, weighted(4, 7, method=GsmCpd(ranks=(8,), objective="latent", greedy="naive"))
    ),
    "columns": Case(
        classes,
        weighted(
            3, 8, method=QUICK, discretize=Discretize(bins=4, strategy="quantile"),
            columns=Columns(include=("sum",), exclude=("coin",), candidates=("text", "gappy")),
        ),
    ),
    "mrmr": Case(classes, config(5, 0, method=Mrmr(), evaluate=TWICE)),
    "mrmr, weights": Case(classes, weighted(5, 1, method=Mrmr())),
    "jmi": Case(classes, config(5, 2, method=Jmi(), evaluate=TWICE)),
    "jmi, numbers": Case(numbers, config(5, 3, method=Jmi())),
    "jmim": Case(classes, weighted(5, 4, method=Jmim())),
    "cmim": Case(numbers, config(5, 5, method=Cmim(), evaluate=TWICE)),
    "rjmi": Case(classes, config(3, 6, method=Rjmi(), evaluate=TWICE)),
    "rjmi, drawn": Case(numbers, config(4, 7, method=Rjmi(max_patterns=60))),
    "iselect": Case(classes, config(5, 8, method=Iselect(), evaluate=TWICE)),
    "iselect, auto": Case(classes, weighted("auto", 9, method=Iselect())),
    "globalfs": Case(classes, config(4, 0, method=GlobalFs(), evaluate=TWICE)),
    "globalfs, auto": Case(numbers, config("auto", 1, method=GlobalFs(max_subsets=40))),
    "compare": Case(
        classes,
        config(4, 2, method=QUICK),
        Compare(methods=(QUICK, Mrmr(), Jmim(), Iselect(), Rjmi(max_patterns=60)), n_splits=3),
        Bootstrap(n_samples=4),
    ),
    "compare, raw": Case(
        numbers,
        config("auto", 3, method=Jmi()),
        Compare(methods=(Cmim(), Jmi(), GlobalFs(max_subsets=40)), n_splits=2, values="raw"),
        Bootstrap(n_samples=6),
    ),
}  # fmt: skip


def fingerprint(result: SelectionResult) -> dict[str, Any]:
    """What a result says, to six digits; not how many iterations that took."""
    document = result.to_json()
    del document["config"], document["n_evaluations"]
    for model, fit in zip(document["models"], result.models, strict=True):
        del model["n_iter"]
        model |= {"loglik": fit.loglik[-1], "weights": fit.weights.tolist()}
    rounded: dict[str, Any] = json.loads(
        json.dumps(document), parse_float=lambda digits: float(f"{float(digits):.6g}")
    )
    return rounded


if __name__ == "__main__":
    found = {name: fingerprint(case.run()) for name, case in CASES.items()}
    lines = [f"{json.dumps(name)}: {json.dumps(document)}" for name, document in found.items()]
    RECORD.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")
