"""A selection in this process, without a service: read, run with a progress bar, show."""

from __future__ import annotations

import hashlib
import json
import platform
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from app.cli.addresses import is_address, read_address
from app.cli.foretelling import foretell
from app.cli.terminal import show
from app.cluster.faults import ClusterAway, ColumnsOutOfReach
from app.cluster.source import lend
from app.datasets.columns import Columns, defer_columns
from app.datasets.faults import Passing, Rejected
from app.datasets.formats import CsvOptions, format_of
from app.datasets.keys import COLUMNS
from app.datasets.limits import Limits
from app.datasets.tables import Source, ingest
from app.datasets.warnings import table_warnings
from app.report.page import About, report
from app.report.parts import parts_of
from app.settings import get_settings
from core.blocks.engine import MEMORY, Engine
from core.blocks.scratch import Scratch
from core.callbacks import Enough
from core.config import (
    Bootstrap,
    Compare,
    SelectionConfig,
)
from core.cost.engines import EngineName
from core.data.sources import Origin
from core.errors import InvalidConfig, InvalidData
from core.results.selection import EXPERIMENTS, SelectionResult
from core.results.selection import Progress as Step

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


@dataclass(frozen=True)
class Table:
    """What was read: its columns, how many rows and what they are, and by what it is known."""

    name: str
    columns: Columns
    profile: tuple[int, Sequence[Mapping[str, Any]]]
    typed: BinaryIO
    sha256: Callable[[], str]


def run(
    table: Table,
    target: str,
    config: SelectionConfig,
    compare: Compare | None = None,
    bootstrap: Bootstrap | None = None,
    scratch: Path | None = None,
    scheduler: str = "",
) -> SelectionResult:
    """Run the selection with what it will take and a progress bar on stderr.

    What is large lies in `scratch`, if any, or on the cluster of a `scheduler`.
    """
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
    with bar, keeping() as check, _engine(table, scratch, scheduler) as (engine, origin):
        task = bar.add_task(PHASES["encode"], total=1.0)
        kept: EngineName = "dask" if scheduler else "memory" if engine is MEMORY else "file"
        # Told with the first step, when the options have proved right.
        untold = [foretell(table.profile, target, config, compare, bootstrap, kept)]

        def tell(step: Step) -> None:
            while untold:
                console.print(untold.pop(), highlight=False)
            bar.update(task, completed=step.fraction, description=PHASES[step.phase])
            check(step)

        return select_features(
            table.columns, target, config, tell,
            compare=compare, bootstrap=bootstrap, timer=time.perf_counter,
            engine=engine, origin=origin,
        )  # fmt: skip


@contextmanager
def keeping() -> Iterator[Callable[[Step], None]]:
    """To be told of each step: from an experiment on, Ctrl-C keeps what is done, a second ends."""
    before, asked = signal.getsignal(signal.SIGINT), threading.Event()

    def ask(*_: object) -> None:
        asked.set()
        signal.signal(signal.SIGINT, before)

    def check(step: Step) -> None:
        if asked.is_set():
            raise Enough
        if step.phase in EXPERIMENTS:
            signal.signal(signal.SIGINT, ask)

    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _engine(
    table: Table, scratch: Path | None, scheduler: str
) -> Iterator[tuple[Engine, Origin | None]]:
    nearby = MEMORY if scratch is None else Scratch(scratch)
    if not scheduler:
        yield nearby, None
        return
    if find_spec("distributed") is None:
        raise InvalidConfig("a cluster needs Dask: pip install 'pith[dask]'", "dask")
    # Late: few need it, and fewer have it.
    from app.cluster.engine import DaskEngine  # noqa: PLC0415

    try:
        with lend(table.typed, get_settings()) as origin:
            yield DaskEngine(scheduler, nearby), origin
    except (ClusterAway, ColumnsOutOfReach) as error:
        raise InvalidConfig(str(error), "dask") from error


def read(place: str) -> Table:
    """Read a file into the same columns that an upload of it would have, and warn as that would."""
    if not is_address(place):
        file = Path(place)
        typed, found = _typed(partial(_ingest, file))
        return Table(file.name, defer_columns(typed), _profile(found), typed, lambda: _digest(file))
    typed, found = _typed(partial(_fetch, place))
    name, digest = place.rpartition("/")[2], str(found["sha256"])
    return Table(name, defer_columns(typed), _profile(found), typed, lambda: digest)


def _profile(found: Mapping[str, Any]) -> tuple[int, Sequence[Mapping[str, Any]]]:
    return found["n_rows"], found["columns"]


def _fetch(address: str, directory: Path) -> dict[str, Any]:
    try:
        return read_address(address, directory, NO_LIMITS)
    except ValidationError:
        raise InvalidData(f"{address} is too long for an address", "file") from None
    except OSError as error:
        raise InvalidData(f"{address}: {error.strerror}", "file") from None


def _ingest(file: Path, directory: Path) -> dict[str, Any]:
    fmt = format_of("", file.name)
    if fmt is None:
        raise InvalidData(f"{file} is not named like a CSV, Parquet or Arrow file", "file")
    if not file.is_file():
        raise InvalidData(f"{file} does not exist or is no file", "file")
    source = Source(file, fmt, CsvOptions(), directory)
    return ingest(source, directory / COLUMNS, NO_LIMITS)


def _typed(find: Callable[[Path], dict[str, Any]]) -> tuple[BinaryIO, dict[str, Any]]:
    with TemporaryDirectory(prefix="pith-") as directory:
        try:
            found = find(Path(directory))
        except (Rejected, Passing) as error:
            raise InvalidData(str(error), "file") from error
        for warning in table_warnings(found["n_rows"], found["columns"]):
            sys.stderr.write(f"Warning: {warning.message}\n")
        return (Path(directory) / COLUMNS).open("rb"), found


def _digest(file: Path) -> str:
    with file.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def deliver(result: SelectionResult, *, as_json: bool, out: Path | None) -> None:
    """Print the result, and write it to a file when asked."""
    document = json.dumps(result.to_json(), indent=2, ensure_ascii=False) + "\n"
    if out is not None:
        out.write_text(document, encoding="utf-8")
    if as_json:
        sys.stdout.write(document)
    else:
        show(result, Console())


def write_report(result: SelectionResult, table: Table, out: Path) -> None:
    """Write the same report that the service makes."""
    provenance = {
        "dataset": {"id": table.name, "sha256": table.sha256()},
        "specification": result.config,
        "seed": result.config["seed"],
        "versions": {"pith": version("pith"), "python": platform.python_version()},
    }
    document = {**result.to_json(), "provenance": provenance}
    parts = parts_of(document, result.to_arrays())
    about = About(table.name, datetime.now(UTC))
    out.write_text(report(document, parts, about), encoding="utf-8")
