"""Whether the rest may be dropped, by what held-out rows say."""

from __future__ import annotations

import math

from app.report.scales import uncertain
from app.report.words import Document, counted, percent, share

CLEARLY = 2.0
"""Standard errors beyond which more is more."""


def rest_sentences(document: Document) -> list[str]:
    """Yes or no, and what it rests on."""
    held_out = document.get("held_out")
    if not held_out or held_out["all_features"] is None:
        return []
    if not document["selected"]:
        return [
            "There is nothing to keep: on rows held out no number of columns is better than none."
        ]
    if not document["left_out"]:
        return ["There is no rest: every column that could be was chosen."]
    k = min(len(document["selected"]), len(held_out["information"]) - 1)
    told, error = held_out["information"][k], held_out["standard_error"][k]
    every, its_error = held_out["all_features"], held_out["all_features_se"] or 0.0
    lost, doubt = every - told, CLEARLY * math.hypot(error, its_error)
    size = counted(k, "feature")
    facts = (
        f"{size} {'tells' if k == 1 else 'tell'} {uncertain(told, error)} nats on held-out rows, "
        f"all columns together {uncertain(every, its_error)}."
    )
    if lost <= 0:
        return [f"Yes: on rows held out the rest adds nothing. {facts}"]
    if lost <= doubt:
        return [f"Yes, as far as held-out rows can tell: the rest adds nothing clear. {facts}"]
    missing = percent(share(lost, held_out))
    return [f"Not without a loss: the rest tells {missing} more of all there is to know. {facts}"]
