"""A result as a notebook shows it: the features in order, and what they tell."""

from __future__ import annotations

from html import escape

from pith_client.models import Document


def table_of(document: Document) -> str:
    """An HTML table; no name of a column is taken for markup."""
    target = escape(document["target"])
    if not document["selected"]:
        return f"<p>No column here tells anything about <b>{target}</b>.</p>"
    held_out = document.get("held_out")
    told = held_out["information"] if held_out else []
    errors = held_out["standard_error"] if held_out else []
    head = "<th>#</th><th>feature</th>" + ("<th>told on held-out rows, nats</th>" if told else "")
    rows = (
        f"<tr><td>{k}</td><td>{escape(feature['name'])}</td>"
        + (f"<td>{_figure(told, errors, k)}{_support(feature)}</td></tr>" if told else "</tr>")
        for k, feature in enumerate(document["selected"], 1)
    )
    entropy = f" of {held_out['entropy']:.3f} nats there are to know" if held_out else ""
    return (
        f"<table><caption>What tells about <b>{target}</b>{entropy}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>{_foot(held_out)}</table>"
    )


def _figure(told: list[float], errors: list[float], k: int) -> str:
    """With two standard errors, as pictures have them."""
    return f"{told[k]:.3f} ± {2 * errors[k]:.3f}" if k < len(told) else ""


def _foot(held_out: Document | None) -> str:
    """What is told without choosing."""
    if not held_out:
        return ""
    told = f"{held_out['all_features']:.3f} ± {2 * held_out['all_features_se']:.3f}"
    return f"<tfoot><tr><td></td><td>all features</td><td>{told}</td></tr></tfoot>"


def _support(feature: Document) -> str:
    return ", which do not support it" if feature.get("supported") is False else ""
