"""Accuracy for every K, one picture for each dataset."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from numpy.typing import NDArray

from benchmarks.choosers import OURS
from benchmarks.judges import ON_CODES
from benchmarks.units import Document

Curves = dict[str, NDArray[np.float64]]

N_COLOURS = 10
"""Those of matplotlib; curves after them are dashed."""


def draw_curves(units: Sequence[Document], out: Path) -> None:
    """Write `{dataset}.png` for each dataset: the judge that has seen every K."""
    mpl.use("agg")
    for dataset in dict.fromkeys(unit["dataset"] for unit in units):
        _draw(dataset, _curves(dataset, units), out / f"{dataset}.png")


def _curves(dataset: str, units: Sequence[Document]) -> Curves:
    """Accuracies of each method, (n_splits, k); k is the smallest of all splits."""
    mine = [unit for unit in units if unit["dataset"] == dataset]
    k = min(len(unit["chosen"]) for unit in mine)
    methods = dict.fromkeys(unit["method"] for unit in mine)
    return {
        m: np.array([u["accuracy"][ON_CODES][:k] for u in mine if u["method"] == m])
        for m in methods
    }


def _draw(dataset: str, curves: Curves, path: Path) -> None:
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    ordered = sorted(curves, key=lambda name: (not name.startswith(OURS), name))
    for i, method in enumerate(ordered):
        curve = curves[method]
        k, mean = np.arange(1, curve.shape[1] + 1), curve.mean(axis=0)
        error = curve.std(axis=0, ddof=1) / np.sqrt(len(curve)) if len(curve) > 1 else 0 * mean
        ours = method.startswith(OURS)
        style = "-" if i < N_COLOURS else "--"
        (line,) = axes.plot(k, mean, style, label=method, linewidth=2.2 if ours else 1.2)
        axes.fill_between(k, mean - error, mean + error, color=line.get_color(), alpha=0.15)
    axes.set(title=dataset, xlabel="number of features K", ylabel=f"accuracy of {ON_CODES}")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)
