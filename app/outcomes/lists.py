"""What was chosen, and what it told step by step, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

Document = Mapping[str, Any]

FIGURE = pa.float64()
INFORMATION = [(name, FIGURE) for name in ("mi_label", "mi_label_se", "mi_latent", "mi_latent_se")]
# Named, so that a result without features, or of a method without figures, has the same columns.
SELECTED = pa.schema(
    [
        ("rank", pa.int32()),
        ("name", pa.string()),
        ("source_column", pa.string()),
        ("gain", FIGURE),
        ("decided_by", pa.string()),
        ("exact", pa.bool_()),
        ("supported", pa.bool_()),
        ("gain_label", FIGURE),
        ("gain_latent", FIGURE),
        *INFORMATION,
        ("runner_up", pa.string()),
        ("margin", FIGURE),
    ]
)
TRACE = pa.schema(
    [
        ("k", pa.int32()),
        ("feature", pa.string()),
        ("held_out", FIGURE),
        ("held_out_se", FIGURE),
        *INFORMATION,
    ]
)


def selected_table(document: Document) -> pa.Table:
    """One row for each chosen feature; `source_column` is the column of a part of a time."""
    sources = {part["name"]: part["source_column"] for part in document.get("derived", ())}
    rows = [
        {**feature, "source_column": sources.get(feature["name"], feature["name"])}
        for feature in document["selected"]
    ]
    return _table(rows, SELECTED)


def trace_table(document: Document) -> pa.Table:
    """What the first K features tell: on held-out rows, also where more were tried, and by model.

    One row for K = 0, 1, ...; information is in nats.
    """
    told = document.get("held_out") or {"information": [], "standard_error": []}
    held_out = list(zip(told["information"], told["standard_error"], strict=True))
    steps = [{"k": 0}, *({**one, "k": one["rank"]} for one in document["selected"])]
    steps += [{"k": k} for k in range(len(steps), len(held_out))]
    rows = [{**step, "feature": step.get("name"), **_told(held_out, step["k"])} for step in steps]
    return _table(rows, TRACE)


def _told(held_out: Sequence[tuple[float, float]], k: int) -> dict[str, float]:
    if k >= len(held_out):
        return {}
    return dict(zip(("held_out", "held_out_se"), held_out[k], strict=True))


def _table(rows: Sequence[Document], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist([dict(row) for row in rows], schema=schema)
