"""Table, pictures and JSON from the units of the accuracy benchmark."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib import pyplot as plt
from numpy.typing import NDArray
from scipy.stats import rankdata

AT = (5, 10, 20, 50)
WITHIN = 0.005
OURS = "GSM-CPD"

Curves = dict[str, NDArray[np.float64]]


def write_report(units: Sequence[Mapping[str, Any]], out: Path) -> None:
    """Write accuracy.json, accuracy.md and one picture for each dataset."""
    mpl.use("agg")
    datasets = list(dict.fromkeys(unit["dataset"] for unit in units))
    rows = [row for name in datasets for row in _rows(name, units)]
    for name in datasets:
        _draw(name, _curves(name, units), out / f"{name}.png")
    document = {"versions": _versions(), "rows": rows, "ranks": _mean_ranks(rows)}
    (out / "accuracy.json").write_text(json.dumps(document, indent=2) + "\n")
    (out / "accuracy.md").write_text(_markdown(rows))


def _curves(dataset: str, units: Sequence[Mapping[str, Any]]) -> Curves:
    """Accuracies of each method, (n_splits, k)."""
    mine = [unit for unit in units if unit["dataset"] == dataset]
    methods = dict.fromkeys(unit["method"] for unit in mine)
    return {m: np.array([u["accuracy"] for u in mine if u["method"] == m]) for m in methods}


def _rows(dataset: str, units: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    curves = _curves(dataset, units)
    means = {method: float(curve.mean()) for method, curve in curves.items()}
    ranks = dict(zip(means, rankdata([-round(m, 6) for m in means.values()]), strict=True))
    rows = []
    for method, curve in curves.items():
        at = {f"K={k}": float(curve[:, k - 1].mean()) for k in AT if k <= curve.shape[1]}
        times = [u["seconds"] for u in units if (u["dataset"], u["method"]) == (dataset, method)]
        error = curve.mean(axis=1).std(ddof=1) / np.sqrt(len(curve)) if len(curve) > 1 else 0.0
        figures = {"mean": means[method], "se": float(error), **at}
        rest = {"seconds": float(np.mean(times)), "rank": float(ranks[method])}
        rows.append(
            {"dataset": dataset, "method": method, "n_splits": len(curve), **figures, **rest}
        )
    return sorted(rows, key=lambda row: float(row["rank"]))


def _mean_ranks(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    methods = dict.fromkeys(row["method"] for row in rows)
    ranks = {m: float(np.mean([r["rank"] for r in rows if r["method"] == m])) for m in methods}
    return dict(sorted(ranks.items(), key=lambda item: item[1]))


def _markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join([*_summary(rows), "", *_details(rows)]) + "\n"


def _summary(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Mean accuracy over K, a line for each dataset; all that is within WITHIN of the best bold."""
    methods = list(_mean_ranks(rows))
    means = {(row["dataset"], row["method"]): row["mean"] for row in rows}
    lines = ["| dataset | " + " | ".join(methods) + " |", "|---" * (len(methods) + 1) + "|"]
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        found = [means.get((dataset, method)) for method in methods]
        best = max(mean for mean in found if mean is not None)
        cells = ["" if mean is None else _bold(mean, best - WITHIN) for mean in found]
        lines.append(f"| {dataset} | " + " | ".join(cells) + " |")
    ranks = [f"{rank:.2f}" for rank in _mean_ranks(rows).values()]
    return [*lines, "| mean rank | " + " | ".join(ranks) + " |"]


def _bold(mean: float, threshold: float) -> str:
    return f"**{mean:.3f}**" if mean >= threshold else f"{mean:.3f}"


def _details(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    header = ["dataset", "method", "splits", "mean over K", *(f"K={k}" for k in AT), "s", "rank"]
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    for row in rows:
        at = [f"{row[f'K={k}']:.3f}" if f"K={k}" in row else "" for k in AT]
        mean = f"{row['mean']:.3f} ± {row['se']:.3f}"
        cells = [row["dataset"], row["method"], str(row["n_splits"]), mean, *at]
        lines.append(
            "| " + " | ".join([*cells, f"{row['seconds']:.2f}", f"{row['rank']:g}"]) + " |"
        )
    return lines


def _draw(dataset: str, curves: Curves, path: Path) -> None:
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for method in sorted(curves, key=lambda name: (not name.startswith(OURS), name)):
        curve = curves[method]
        k, mean = np.arange(1, curve.shape[1] + 1), curve.mean(axis=0)
        error = curve.std(axis=0, ddof=1) / np.sqrt(len(curve)) if len(curve) > 1 else 0 * mean
        ours = method.startswith(OURS)
        (line,) = axes.plot(k, mean, label=method, linewidth=2.2 if ours else 1.2)
        axes.fill_between(k, mean - error, mean + error, color=line.get_color(), alpha=0.15)
    axes.set(title=dataset, xlabel="number of features K", ylabel="accuracy of 1-NN")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _versions() -> dict[str, str]:
    return {name: version(name) for name in ("pith", "numpy", "scipy", "numba")} | {
        "polars": pl.__version__
    }
