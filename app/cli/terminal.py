"""A result as tables on a terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from core.measures import ComparedMethod, Comparison, Stability
from core.results import Selected, SelectionResult


def show(result: SelectionResult, console: Console) -> None:
    """Print the chosen features, then what the experiments found."""
    title = f"{len(result.selected)} features for {result.target}"
    table = _table(title)
    cells = [_cells(feature) for feature in result.selected]
    for heading in ("rank", "feature", "gain", "information", "± s.e.", "runner-up", "margin"):
        if any(row[heading] for row in cells):
            is_name = heading in ("feature", "runner-up")
            table.add_column(heading, justify="left" if is_name else "right", overflow="fold")
    for row in cells:
        table.add_row(*(row[str(column.header)] for column in table.columns))
    console.print(table)
    console.print(_summary(result), highlight=False)
    if result.comparison is not None:
        _show_comparison(result.comparison, console)
    if result.stability is not None:
        _show_stability(result.stability, console)


def _cells(feature: Selected) -> dict[str, str]:
    return {
        "rank": str(feature.rank),
        "feature": feature.name,
        "gain": _number(feature.gain),
        "information": _number(feature.mi_label),
        "± s.e.": _number(feature.mi_label_se or None),  # none where it was enumerated
        "runner-up": feature.runner_up or "",
        "margin": _number(feature.margin),
    }


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _summary(result: SelectionResult) -> str:
    lines = [f"{result.n_rows} rows; suggested k: {result.suggested_k}"]
    if result.certificate is not None:
        lines.append(f"At least {result.certificate.label.ratio:.1%} of the best possible choice")
    for curve in result.evaluation.curves if result.evaluation else ():
        accuracy = ", ".join(f"{mean:.3f}" for mean in curve.mean)
        lines.append(
            f"Accuracy of {curve.classifier.replace('_', ' ')} for k = 1, 2, ...: {accuracy}"
        )
    return "\n".join([*lines, *result.notes])


def _show_comparison(comparison: Comparison, console: Console) -> None:
    """A row for each method, the best first."""
    console.print()
    table = _table(f"{comparison.n_splits} splits, {comparison.measure}")
    for heading in ("rank", "method", "accuracy", "± s.e.", *_sizes(comparison.k), "seconds", "p"):
        table.add_column(heading, justify="left" if heading == "method" else "right")
    for method in sorted(comparison.methods, key=lambda m: m.rank or len(comparison.methods) + 1):
        table.add_row(*_comparison_cells(method, comparison))
    console.print(table)
    failures = [f"{m.label} failed: {m.error['message']}" for m in comparison.methods if m.error]
    remark = f"p: against the first, {comparison.test}"
    notes = [f"{m.label}: {note}" for m in comparison.methods for note in m.notes]
    lines = [remark, *failures, *comparison.notes, *notes]
    console.print("\n".join(lines), highlight=False)


def _sizes(k: int) -> list[str]:
    return [f"K={size}" for size in (5, 10, 20, 50) if size <= k]


def _comparison_cells(method: ComparedMethod, comparison: Comparison) -> list[str]:
    sizes = [int(size.removeprefix("K=")) for size in _sizes(comparison.k)]
    curve = next((c.mean for c in method.curves if c.classifier == "nearest_neighbour"), ())
    first = next((m.label for m in comparison.methods if m.rank == 1), "")
    against = {frozenset((p.better, p.worse)): p.p_adjusted for p in comparison.pairs}
    return [
        "" if method.rank is None else str(method.rank),
        method.label,
        _number(method.accuracy),
        _number(method.accuracy_se),
        *(f"{curve[size - 1]:.3f}" if curve else "" for size in sizes),
        "" if method.seconds is None else f"{method.seconds:.2f}",
        _number(against.get(frozenset((method.label, first)))),
    ]


def _show_stability(stability: Stability, console: Console) -> None:
    console.print()
    table = _table(f"Chosen in how many of {stability.n_samples} bootstrap samples")
    for heading in ("feature", "share", "rank"):
        table.add_column(heading, justify="left" if heading == "feature" else "right")
    for feature in stability.features:
        if feature.frequency > 0 or feature.rank is not None:
            rank = "" if feature.rank is None else str(feature.rank)
            table.add_row(feature.name, f"{feature.frequency:.2f}", rank)
    console.print(table)
    if stability.index is not None:
        span = f"{stability.index_low:.2f} to {stability.index_high:.2f}"
        line = f"Stability (Nogueira et al.): {stability.index:.2f}, 95 % interval {span}"
        console.print(line, highlight=False)
