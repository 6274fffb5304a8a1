"""A selection in this process, without a service: read, run with a progress bar, show."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from app.cli.terminal import show
from app.datasets.columns import Held, load_columns
from app.datasets.faults import Passing, Rejected
from app.datasets.formats import CsvOptions, format_of
from app.datasets.keys import COLUMNS
from app.datasets.limits import Limits
from app.datasets.tables import Source, ingest
from app.datasets.warnings import table_warnings
from app.report.page import About, report
from app.report.parts import parts_of
from core.config import (
    Bootstrap,
    Compare,
    SelectionConfig,
)
from core.errors import InvalidData
from core.results.selection import Progress as Step
from core.results.selection import SelectionResult

PHASES = {
    "prepare": "Preparing, once",
    "encode": "Encoding columns",
    "rank": "Searching cuts and states",
    "fit": "Fitting the model",
    "select": "Choosing features",
    "evaluate": "Measuring accuracy",
    "compare": "Comparing methods",
    "resample": "Drawing samples",
}
# The file is the caller's own, and so is the machine.
NO_LIMITS = Limits(
    memory_bytes=sys.maxsize,
    scratch_bytes=sys.maxsize,
    seconds=sys.maxsize,
    max_rows=2**32 - 2,  # as many as polars counts
    max_columns=1 << 30,
    max_name_length=1 << 20,
    max_cell_bytes=sys.maxsize,
)


def run(
    file: Path,
    target: str,
    config: SelectionConfig,
    compare: Compare | None = None,
    bootstrap: Bootstrap | None = None,
) -> SelectionResult:
    """Run the selection with a progress bar on stderr."""
    columns = read(file)
    # Loading numba takes a second or more: not before the options and the file have proved right.
    from core.pipeline import select_features  # noqa: PLC0415

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description:<25}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task(PHASES["encode"], total=1.0)

        def tell(step: Step) -> None:
            bar.update(task, completed=step.fraction, description=PHASES[step.phase])

        return select_features(
            columns, target, config, tell,
            compare=compare, bootstrap=bootstrap, timer=time.perf_counter,
        )  # fmt: skip


def read(file: Path) -> dict[str, Held]:
    """Read a file into the same columns that an upload of it would have, and warn as that would."""
    fmt = format_of("", file.name)
    if fmt is None:
        raise InvalidData(f"{file} is not named like a CSV, Parquet or Arrow file", "file")
    if not file.is_file():
        raise InvalidData(f"{file} does not exist or is no file", "file")
    with TemporaryDirectory(prefix="pith-") as directory:
        columns = Path(directory) / COLUMNS
        try:
            found = ingest(Source(file, fmt, CsvOptions(), Path(directory)), columns, NO_LIMITS)
        except (Rejected, Passing) as error:
            raise InvalidData(str(error), "file") from error
        for warning in table_warnings(found["n_rows"], found["columns"]):
            sys.stderr.write(f"Warning: {warning.message}\n")
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
        show(result, Console())


def write_report(result: SelectionResult, file: Path, out: Path) -> None:
    """Write the same report that the service makes."""
    with file.open("rb") as source:
        sha256 = hashlib.file_digest(source, "sha256").hexdigest()
    provenance = {
        "dataset": {"id": file.name, "sha256": sha256},
        "specification": result.config,
        "seed": result.config["seed"],
        "versions": {"pith": version("pith"), "python": platform.python_version()},
    }
    document = {**result.to_json(), "provenance": provenance}
    parts = parts_of(document, result.to_arrays())
    about = About(file.name, datetime.now(UTC))
    out.write_text(report(document, parts, about), encoding="utf-8")
