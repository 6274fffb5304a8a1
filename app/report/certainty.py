"""How sure the choice is: what halves of the rows choose, and how close its decisions were."""

from __future__ import annotations

from app.report.scales import number
from app.report.selection import is_supported
from app.report.sentences import certificate_sentences
from app.report.words import Document, percent

OFTEN = 0.8


def certainty_sentences(document: Document) -> list[str]:
    """Stability, the closest decision, and the certificate."""
    return [*_stability(document), *_closest(document), *certificate_sentences(document)]


def _stability(document: Document) -> list[str]:
    stability = document.get("stability")
    if not stability:
        return []
    chosen = [f for f in stability["features"] if f["rank"] is not None]
    halves = f"{stability['n_samples']} random halves of the rows"
    if len(chosen) < 2:
        return [f"{f['name']} is chosen by {percent(f['frequency'])} of {halves}." for f in chosen]
    often = sum(f["frequency"] >= OFTEN for f in chosen)
    return [f"{_of(often, len(chosen))} chosen by at least {percent(OFTEN)} of {halves}."]


def _of(some: int, n: int) -> str:
    if some == n:
        return f"All {n} features are"
    return f"{some or 'None'} of the {n} chosen features {'is' if some < 2 else 'are'}"


def _closest(document: Document) -> list[str]:
    """The decision with the least margin, among those that held-out rows support."""
    decided = [
        f
        for f in document["selected"]
        if f["runner_up"] is not None and f["margin"] is not None and is_supported(f)
    ]
    if not decided:
        return []
    closest = min(decided, key=lambda f: float(f["margin"]))
    return [
        f"The closest decision was for {closest['name']} (place {closest['rank']}), by "
        f"{number(closest['margin'])} before {closest['runner_up']}."
    ]
