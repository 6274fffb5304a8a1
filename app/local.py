"""A selection in this process, without a service: read, run with a progress bar, show."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from app.datasets.columns import load_columns
from app.datasets.formats import CsvOptions, format_of
from app.datasets.ingest import COLUMNS, Limits
from app.datasets.tables import Rejected, Source, ingest
from core.config import Columns, Discretize, Evaluate, SelectionConfig, method_from_dict
from core.errors import InvalidConfig, InvalidData
from core.results import Progress as Step
from core.results import Selected, SelectionResult

PHASES = {
    "encode": "Encoding columns",
    "rank": "Choosing the rank",
    "fit": "Fitting the model",
    "select": "Choosing features",
    "evaluate": "Measuring accuracy",
}
# The file is the caller's own, and so is the machine.
NO_LIMITS = Limits(
    memory_bytes=sys.maxsize,
    seconds=sys.maxsize,
    max_rows=2**32 - 2,  # as many as polars counts
    max_columns=sys.maxsize,
    max_name_length=sys.maxsize,
)


def configure(
    *,
    k: str,
    method: str,
    include: Sequence[str],
    exclude: Sequence[str],
    bins: int,
    strategy: str,
    evaluate: bool,
    **options: Any,
) -> SelectionConfig:
    """Make options of the library from those of the command line."""
    return SelectionConfig(
        _count(k),
        method=method_from_dict(_method(method)),
        columns=Columns(include=tuple(include), exclude=tuple(exclude)),
        discretize=Discretize(bins=bins, strategy=strategy),  # type: ignore[arg-type]
        evaluate=Evaluate() if evaluate else None,
        **options,
    )


def _count(k: str) -> int | Literal["auto"]:
    if k == "auto":
        return "auto"
    try:
        return int(k)
    except ValueError:
        raise InvalidConfig(f"k must be a whole number or auto, not {k!r}", "k") from None


def _method(text: str) -> Mapping[str, Any]:
    if not text.startswith("{"):
        return {"name": text}
    try:
        document: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise InvalidConfig(f"method is not valid JSON: {error}", "method") from None
    return document


def select(file: Path, target: str, config: SelectionConfig) -> SelectionResult:
    """Run the selection with a progress bar on stderr."""
    columns = read(file)
    # Loading numba takes a second or more: not before the options and the file have proved right.
    from core.pipeline import select_features  # noqa: PLC0415

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description:<18}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task(PHASES["encode"], total=1.0)

        def show(step: Step) -> None:
            bar.update(task, completed=step.fraction, description=PHASES[step.phase])

        return select_features(columns, target, config, show)


def read(file: Path) -> dict[str, NDArray[Any]]:
    """Read a file into the same columns that an upload of it would have."""
    fmt = format_of("", file.name)
    if fmt is None:
        raise InvalidData(f"{file} is not named like a CSV, Parquet or Arrow file", "file")
    if not file.is_file():
        raise InvalidData(f"{file} does not exist or is no file", "file")
    with TemporaryDirectory(prefix="pith-") as directory:
        columns = Path(directory) / COLUMNS
        try:
            ingest(Source(file, fmt, CsvOptions(), Path(directory)), columns, NO_LIMITS)
        except Rejected as error:
            raise InvalidData(str(error), "file") from error
        with columns.open("rb") as typed:
            return load_columns(typed)


def deliver(result: SelectionResult, *, as_json: bool, out: Path | None) -> None:
    """Print the result, and write it to a file when asked."""
    document = json.dumps(result.to_json(), indent=2, ensure_ascii=False) + "\n"
    if out is not None:
        out.write_text(document, encoding="utf-8")
    if as_json:
        sys.stdout.write(document)
    else:
        _show(result, Console())


def _show(result: SelectionResult, console: Console) -> None:
    title = f"{len(result.selected)} features for {result.target}"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    cells = [_cells(feature) for feature in result.selected]
    for heading in ("rank", "feature", "gain", "information", "± s.e.", "runner-up", "margin"):
        if any(row[heading] for row in cells):
            is_name = heading in ("feature", "runner-up")
            table.add_column(heading, justify="left" if is_name else "right", overflow="fold")
    for row in cells:
        table.add_row(*(row[str(column.header)] for column in table.columns))
    console.print(table)
    console.print(_summary(result), highlight=False)


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
