"""What would come of a wish for a column, from a sample of the rows as they are written."""

from __future__ import annotations

from typing import Any, BinaryIO

import polars as pl

from app.datasets.faults import printable
from app.datasets.formats import Wish
from app.datasets.kinds.detection import TEXT, Fit, closest, obey
from app.datasets.kinds.words import why, why_text
from app.datasets.sample import read_written
from app.datasets.versions import Wishes

SHOWN = 6
MAX_LENGTH = 40


def preview(file: BinaryIO, wishes: Wishes) -> list[dict[str, Any]]:
    """For each wish what it would read; None is what would be found without it."""
    texts = read_written(file, list(wishes))
    return [_column(name, texts, wish) for name, wish in wishes.items()]


def _column(name: str, texts: pl.DataFrame, wish: Wish | None) -> dict[str, Any]:
    told: dict[str, Any] = {"name": name, "n_looked_at": 0, "n_fit": 0, "cells": []}
    if wish is not None and wish.kind == "ignore":
        return {**told, "kind": "ignore", "why": "The column is left out."}
    if name not in texts.columns:
        why_not = "It was left out before, so that there is no sample of it."
        return {**told, "kind": wish.kind if wish else "category", "why": why_not}
    fit = closest(texts[name]) if wish is None else obey(texts[name], wish)
    if fit is None or (wish is None and not fit.is_taken):
        text = obey(texts[name], Wish(kind="category"))
        return {**told, **_outcome(text), "why": why_text(fit)}
    return {**told, **_outcome(fit), "why": why(fit)}


def _outcome(fit: Fit) -> dict[str, Any]:
    unfit, fitting = fit.unfit.head(SHOWN // 2), fit.values.filter(pl.col("value").is_not_null())
    lost = [{"written": _short(text), "read": None} for text in unfit[TEXT]]
    kept = [
        {"written": _short(row[TEXT]), "read": _short(str(row["value"]))}
        for row in fitting.head(SHOWN - len(lost)).iter_rows(named=True)
    ]
    counts = {"n_looked_at": fit.n_known, "n_fit": fit.n_fit}
    return {"kind": fit.reading.kind, **counts, "cells": [*lost, *kept]}


def _short(text: str) -> str:
    return printable(text[:MAX_LENGTH])
