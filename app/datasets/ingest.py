"""Reads an upload into typed columns and a profile of each.

A program of its own, `python -m app.datasets.ingest ORDER`, because a few hundred hostile bytes can
make a reader allocate gigabytes or crash: it limits its own memory and what it writes, its parent
watches the clock and the disk, and needs nothing from it but two files.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from app.datasets.faults import Passing, Rejected
from app.datasets.formats import CsvOptions, Format
from app.datasets.keys import COLUMNS
from app.datasets.limits import Limits
from app.processes.loading import loading

OUTCOME = "outcome.json"


@dataclass(frozen=True, kw_only=True)
class Order:
    """What to read, how, and where the outcome goes."""

    source: str
    directory: str
    format: str
    options: dict[str, Any]
    limits: dict[str, int]

    def to_json(self) -> str:
        """As the program's one argument."""
        return json.dumps(asdict(self))


def main(argument: str) -> None:
    """Read, and leave the outcome in the order's directory."""
    order = Order(**json.loads(argument))
    limits = Limits(**order.limits)
    restrict(limits, Path(order.source).stat().st_size)
    outcome = outcome_of(partial(_read, order, limits), limits)
    (Path(order.directory) / OUTCOME).write_text(json.dumps(outcome))


def _read(order: Order, limits: Limits) -> dict[str, Any]:
    # After the limits, so that they hold for all that the libraries allocate.
    with loading():
        from app.datasets import tables  # noqa: PLC0415

    directory, options = Path(order.directory), CsvOptions.of(order.options)
    source = tables.Source(Path(order.source), Format(order.format), options, directory)
    return tables.ingest(source, directory / COLUMNS, limits)


def outcome_of(deed: Callable[[], dict[str, Any]], limits: Limits) -> dict[str, Any]:
    """What came of it, or in which words it was given up."""
    try:
        return deed()
    except Rejected as error:
        return {"rejected": str(error)}
    except Passing as error:
        return {"failed": str(error)}
    except MemoryError:
        return {"rejected": limits.out_of_memory}


def restrict(limits: Limits, n_bytes: int) -> None:
    """Bound what this process may allocate and write."""
    # The file may be mapped, which takes addresses but no memory.
    addresses = limits.memory_bytes + n_bytes
    resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
    # Of one file; a write beyond it is an error that polars and pyarrow pass on.
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.scratch_bytes, limits.scratch_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main(sys.argv[1])
