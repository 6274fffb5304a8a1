"""How many rows of each class stand behind every level of what was chosen."""

from __future__ import annotations

import numpy as np

from core.data.preparation import Prepared
from core.methods import Choice
from core.results.explanations import LevelCounts


def count_levels(prepared: Prepared, choice: Choice) -> tuple[LevelCounts, ...]:
    """For the chosen features, in order."""
    table = prepared.table
    return tuple(
        LevelCounts(
            name=prepared.names[feature],
            counts=tuple(map(tuple, (counts := choice.recipe.counts_of(feature)).tolist())),
            missing=tuple(np.maximum(table.class_weights - counts.sum(axis=0), 0).tolist()),
        )
        for feature in choice.features
    )
