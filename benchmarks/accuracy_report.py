"""Tables and JSON of the accuracy benchmark: one for each judge, and one of the mean of all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from benchmarks.accuracy_pictures import draw_curves
from benchmarks.judges import JUDGES
from benchmarks.units import Document

WITHIN = 0.005
ALL = "mean of the judges"
LIBRARIES = ("pith", "numpy", "scipy", "numba", "polars", "scikit-learn")


@dataclass(frozen=True)
class Score:
    """One method on one dataset by one judge: accuracy, the mean over K and the splits.

    `se` is that of the mean over the splits as if they did not overlap.
    """

    judge: str
    dataset: str
    method: str
    n_splits: int
    mean: float
    se: float | None
    seconds: float
    rank: float = 0.0


@dataclass(frozen=True)
class Standing:
    """One method by one judge over all datasets."""

    judge: str
    method: str
    mean: float
    mean_rank: float
    n_best: int
    n_datasets: int


def write_report(units: Sequence[Document], out: Path) -> None:
    """Write accuracy.json, accuracy.md and one picture for each dataset."""
    scores = [score for judge in (*JUDGES, ALL) for score in _scores(units, judge)]
    standings = [s for judge in (*JUDGES, ALL) for s in _standings(_of(scores, judge))]
    document = {
        "versions": {name: version(name) for name in LIBRARIES},
        "scores": [asdict(score) for score in scores],
        "standings": [asdict(standing) for standing in standings],
    }
    (out / "accuracy.json").write_text(json.dumps(document, indent=2) + "\n")
    parts = [_section(judge, scores, standings) for judge in (*JUDGES, ALL)]
    (out / "accuracy.md").write_text("\n\n".join(parts) + "\n")
    draw_curves(units, out)


def _scores(units: Sequence[Document], judge: str) -> list[Score]:
    datasets = dict.fromkeys(unit["dataset"] for unit in units)
    return [score for dataset in datasets for score in _of_dataset(units, dataset, judge)]


def _of_dataset(units: Sequence[Document], dataset: str, judge: str) -> list[Score]:
    mine = [unit for unit in units if unit["dataset"] == dataset]
    methods = dict.fromkeys(unit["method"] for unit in mine)
    scores = [_score([u for u in mine if u["method"] == method], judge) for method in methods]
    ranks = rankdata([-round(score.mean, 6) for score in scores])
    return [
        Score(**{**asdict(score), "rank": float(rank)})
        for score, rank in zip(scores, ranks, strict=True)
    ]


def _score(units: Sequence[Document], judge: str) -> Score:
    means = [_over_k(unit, judge) for unit in units]
    n = len(means)
    return Score(
        judge=judge,
        dataset=units[0]["dataset"],
        method=units[0]["method"],
        n_splits=n,
        mean=float(np.mean(means)),
        se=float(np.std(means, ddof=1) / np.sqrt(n)) if n > 1 else None,
        seconds=float(np.mean([unit["seconds"] for unit in units])),
    )


def _over_k(unit: Document, judge: str) -> float:
    judges = JUDGES if judge == ALL else (judge,)
    return float(np.mean([np.mean(unit["accuracy"][name]) for name in judges]))


def _of(scores: Sequence[Score], judge: str) -> list[Score]:
    return [score for score in scores if score.judge == judge]


def _standings(scores: Sequence[Score]) -> list[Standing]:
    """The best mean rank first."""
    best = _best(scores)
    found = []
    for method in dict.fromkeys(score.method for score in scores):
        mine = [score for score in scores if score.method == method]
        n_best = sum(score.mean >= best[score.dataset] - WITHIN for score in mine)
        mean, rank = (
            float(np.mean([getattr(s, field) for s in mine])) for field in ("mean", "rank")
        )
        found.append(Standing(mine[0].judge, method, mean, rank, n_best, len(mine)))
    return sorted(found, key=lambda standing: standing.mean_rank)


def _best(scores: Sequence[Score]) -> dict[str, float]:
    datasets = dict.fromkeys(score.dataset for score in scores)
    return {name: max(s.mean for s in scores if s.dataset == name) for name in datasets}


def _section(judge: str, scores: Sequence[Score], standings: Sequence[Standing]) -> str:
    """A line for each dataset, all that is within WITHIN of the best bold; then the standings."""
    mine, order = _of(scores, judge), [s for s in standings if s.judge == judge]
    methods = [standing.method for standing in order]
    lines = [["dataset", *methods], ["---"] * (len(methods) + 1)]
    for dataset, best in _best(mine).items():
        found = {score.method: score for score in mine if score.dataset == dataset}
        cells = [_cell(found.get(method), best) for method in methods]
        lines.append([dataset, *cells])
    lines.append(["mean", *(f"{standing.mean:.3f}" for standing in order)])
    lines.append(["mean rank", *(f"{standing.mean_rank:.2f}" for standing in order)])
    best_on = (f"{standing.n_best} of {standing.n_datasets}" for standing in order)
    lines.append([f"best or within {WITHIN}", *best_on])
    if judge == ALL:
        lines.append(["seconds to select", *(f"{_seconds(mine, m):.2f}" for m in methods)])
    return "\n".join([f"### {judge}", "", *("| " + " | ".join(line) + " |" for line in lines)])


def _cell(score: Score | None, best: float) -> str:
    if score is None:
        return ""
    return f"**{score.mean:.3f}**" if score.mean >= best - WITHIN else f"{score.mean:.3f}"


def _seconds(scores: Sequence[Score], method: str) -> float:
    return float(np.mean([score.seconds for score in scores if score.method == method]))
