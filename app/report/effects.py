"""Which way each chosen feature pushes: P(class | level), with the rows behind it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from app.report.chart import Chart
from app.report.levels import Arrays, Document, Floats, levels_of, models_of
from app.report.stacks import Stack, stack_chart
from app.report.words import counted

MAX_FEATURES = 12
MAX_LEVELS = 12
MAX_CLASSES = 7
GREY = 7
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Effect:
    """One feature: `given` is P(class | level), (n_levels, C), `rows` how many rows have each."""

    name: str
    levels: list[str]
    classes: list[str]
    given: Floats
    rows: Floats
    shares: Floats

    @property
    def telling(self) -> Floats:
        """(n_levels,) how much each level tells: its rows, and how far it moves the classes."""
        ratio = np.maximum(self.given, _TINY) / np.maximum(self.shares, _TINY)
        told: Floats = self.rows * (self.given * np.log(ratio)).sum(axis=1)
        return told

    @property
    def shown(self) -> list[int]:
        """The most telling levels, in their own order."""
        most = np.argsort(-self.telling, kind="stable")[:MAX_LEVELS]
        return sorted(most.tolist())


def effects_of(document: Document, arrays: Arrays) -> list[Effect]:
    """Of the first chosen features; by the fitted models, or by counting where there is none.

    Where held-out rows support no feature, none of them pushes.
    """
    if document.get("held_out") and document["suggested_k"] == 0:
        return []
    levels, target = levels_of(document), document["target"]
    models = list(models_of(document, arrays))
    found = []
    for counted_levels in document.get("level_counts", ())[:MAX_FEATURES]:
        name, counts = counted_levels["name"], np.array(counted_levels["counts"])
        if not counts.size:
            continue
        joint = np.mean([(w * f[name]) @ f[target].T for w, f in models] or [counts], axis=0)
        everyone = counts.sum(axis=0) + np.array(counted_levels["missing"])
        found.append(
            Effect(
                name,
                levels[name],
                levels[target],
                joint / np.maximum(joint.sum(axis=1, keepdims=True), _TINY),
                counts.sum(axis=1),
                everyone / everyone.sum(),
            )
        )
    return found


def effect_charts(document: Document, arrays: Arrays) -> list[Chart]:
    """A picture for each feature."""
    by = "under the fitted model" if document["models"] else "as counted"
    return [
        _chart(effect, rank, by, document["target"])
        for rank, effect in enumerate(effects_of(document, arrays), 1)
    ]


def _chart(effect: Effect, rank: int, by: str, target: str) -> Chart:
    parts, grouped = _classes(effect)
    stacks = [
        Stack(
            name=effect.levels[i],
            shares=grouped[i].tolist(),
            shown=counted(round(effect.rows[i]), "row"),
        )
        for i in effect.shown
    ]
    every = Stack(name="all rows", shares=grouped[-1].tolist(), shown="")
    title = f"{rank}. {effect.name}"
    return Chart(
        name=f"effect_{rank}",
        title=title,
        caption=f"Shares of {target} for each level, {by}.{_rest(effect)}",
        draw=partial(stack_chart, title, parts, [*stacks, every]),
        columns=["level", "rows", *effect.classes],
        rows=[
            [level, float(rows), *shares]
            for level, rows, shares in zip(
                effect.levels, effect.rows, effect.given.round(6).tolist(), strict=True
            )
        ],
    )


def _rest(effect: Effect) -> str:
    rest = len(effect.levels) - len(effect.shown)
    return f" The {len(effect.shown)} most telling of {len(effect.levels)} levels." if rest else ""


def _classes(effect: Effect) -> tuple[list[tuple[str, int]], Floats]:
    """The most frequent classes with their colours, and the others as one; all rows come last."""
    table = np.vstack([effect.given, effect.shares])
    if len(effect.classes) <= MAX_CLASSES:
        return [(name, i) for i, name in enumerate(effect.classes)], table
    kept = np.sort(np.argsort(-effect.shares, kind="stable")[: MAX_CLASSES - 1])
    rest = 1 - table[:, kept].sum(axis=1, keepdims=True)
    parts = [(effect.classes[c], i) for i, c in enumerate(kept)]
    others = f"{len(effect.classes) - len(kept)} others"
    return [*parts, (others, GREY)], np.hstack([table[:, kept], np.maximum(rest, 0)])
