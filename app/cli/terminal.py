"""A result as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.report.sentences import summary
from app.report.words import CLASSIFIERS, MEASURES, headline, percent
from core.results.measures import ComparedMethod, Comparison, Evaluation, Scores, Stability
from core.results.selection import HeldOut, Selected, SelectionResult, TableWarning

BEYOND = 3  # sizes shown after the last chosen, where nothing is added any more
BAR = 20
NAMES = ("feature", "runner-up", "", "held-out rows")


def show(result: SelectionResult, console: Console) -> None:
    """Print what holds on held-out rows, then the model's own figures and the experiments."""
    document = result.to_json()
    console.print(headline(document), style="bold", highlight=False, markup=False)
    if result.held_out is not None:
        console.print(_held_out_table(result, result.held_out))
    if result.selected:
        console.print(_model_table(result.selected))
    lines = [*_warnings(result.warnings), *summary(document), *_scores(result.evaluation)]
    console.print("\n".join(lines), highlight=False, markup=False)
    if result.comparison is not None:
        _show_comparison(result.comparison, console)
    if result.stability is not None:
        _show_stability(result.stability, console)


def _held_out_table(result: SelectionResult, held_out: HeldOut) -> Table:
    """A row for K = 0, 1, ..., as far as features were chosen and a little beyond."""
    shown = min(len(held_out.information), len(result.selected) + 1 + BEYOND)
    rows = [_held_out_cells(result, held_out, k) for k in range(shown)]
    title = f"On rows held out, of {held_out.entropy:.3f} nats there are to know"
    return _filled(title, rows)


def _held_out_cells(result: SelectionResult, held_out: HeldOut, k: int) -> dict[str, str]:
    told = held_out.information[k]
    share = told / held_out.entropy if held_out.entropy else 0.0
    feature = result.selected[k - 1] if 1 <= k <= len(result.selected) else None
    unsupported = feature is not None and not feature.supported
    return {
        "K": f"{k}" + (" ◂" if k == result.suggested_k else "  "),
        "feature": feature.name if feature else "",
        "nats": f"{told:.3f}",
        "± s.e.": f"{held_out.standard_error[k]:.3f}",
        "share": percent(share),
        "": "█" * round(BAR * max(share, 0.0)),
        "held-out rows": "do not support it" if unsupported else "",
    }


def _model_table(selected: Sequence[Selected]) -> Table:
    """Rivals have scores and no model."""
    has_model = selected[0].mi_label is not None
    title = "Under the fitted model, on the rows it was fitted to" if has_model else "Scores"
    return _filled(title, [_cells(feature) for feature in selected])


def _filled(title: str, rows: Sequence[dict[str, str]]) -> Table:
    """A table of the columns in which something stands."""
    table = _table(title)
    headings = [heading for heading in rows[0] if any(row[heading] for row in rows)]
    for heading in headings:
        justify = "left" if heading in NAMES else "right"
        table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(escape(row[heading]) for heading in headings))
    return table


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


def _warnings(warnings: Iterable[TableWarning]) -> list[str]:
    return [f"Warning: {warning.message}" for warning in warnings]


def _scores(evaluation: Evaluation | None) -> list[str]:
    """A line for each measure of each classifier, between what no and all features reach."""
    if evaluation is None:
        return []
    return [
        f"{MEASURES[curve.measure]} of {CLASSIFIERS[curve.classifier]}: "
        f"{evaluation.baseline[curve.measure]:.3f} without features; k = 1, 2, ...: "
        f"{', '.join(f'{mean:.3f}' for mean in curve.mean)}; all: {curve.all_features:.3f}"
        for curve in evaluation.curves
    ]


def _show_comparison(comparison: Comparison, console: Console) -> None:
    """A row for each method, the best first."""
    console.print()
    table = _table(f"{comparison.n_splits} splits, {comparison.measure}")
    sizes = _sizes(comparison.k)
    for heading in ("rank", "method", "accuracy", "± s.e.", *sizes, "seconds", "p"):
        table.add_column(heading, justify="left" if heading == "method" else "right")
    ranked = sorted(comparison.methods, key=lambda m: m.rank or len(comparison.methods) + 1)
    for method in ranked:
        table.add_row(*_comparison_cells(method, comparison))
    for name, scores in _references(comparison).items():
        table.add_row("", name, _number(scores.get("accuracy")))
    console.print(table)
    console.print(_other_measures(ranked, comparison))
    failures = [f"{m.label} failed: {m.error['message']}" for m in comparison.methods if m.error]
    remark = f"p: against the first, {comparison.test}"
    notes = [f"{m.label}: {note}" for m in comparison.methods for note in m.notes]
    lines = [remark, *failures, *comparison.notes, *notes]
    console.print("\n".join(lines), highlight=False)


def _sizes(k: int) -> list[str]:
    return [f"K={size}" for size in (5, 10, 20, 50) if size <= k]


def _other_measures(ranked: Sequence[ComparedMethod], comparison: Comparison) -> Table:
    table = _table("Other measures, means over K")
    measures = [measure for measure in comparison.baseline if measure != "accuracy"]
    table.add_column("method")
    for measure in measures:
        table.add_column(MEASURES[measure], justify="right")
    by_name = {**{m.label: m.scores for m in ranked}, **_references(comparison)}
    for name, scores in by_name.items():
        table.add_row(name, *(_number(scores.get(measure)) for measure in measures))
    return table


def _references(comparison: Comparison) -> dict[str, Scores]:
    return {"all features": comparison.all_features, "no features": comparison.baseline}


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
    table = _table(f"Chosen in how many of {stability.n_samples} random halves of the rows")
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
