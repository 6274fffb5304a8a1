"""Every chart of a result, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.report.chart import Chart
from app.report.comparison import comparison_charts
from app.report.factors import Arrays
from app.report.held_out import held_out_chart
from app.report.selection import selection_charts
from app.report.stability import stability_chart


def charts_of(
    document: Mapping[str, Any], arrays: Arrays, pixel_width: int | None = None
) -> list[Chart]:
    """First what holds on rows held out, then the comparison where there is one, then the rest."""
    held_out = held_out_chart(document)
    compared = comparison_charts(document)
    stability = stability_chart(document)
    return [
        *([held_out] if held_out else []),
        *compared[:2],
        *selection_charts(document, arrays, pixel_width),
        *([stability] if stability else []),
        *compared[2:],
    ]
