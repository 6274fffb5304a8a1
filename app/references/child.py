"""Reads a reference into typed columns: `python -m app.references.child`, with its order on stdin.

Or tells what they would be, or whether the source is as it was read.

A program of its own for the reasons of `app.datasets.ingest`, which it resembles. Of all secrets it
gets those of the one connection it reads from; they come by stdin, for others can see arguments
and environments.
"""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from app.datasets.ingest import OUTCOME, outcome_of, restrict
from app.datasets.limits import Limits
from app.processes.loading import loading
from app.references.secrecy import without_secrets


class Deed(StrEnum):
    """What is to be done with the source."""

    READ = "read"
    DESCRIBE = "describe"
    COMPARE = "compare"


def main() -> None:
    """Do as ordered, and leave the outcome in the order's directory."""
    order = json.load(sys.stdin)
    limits, directory = Limits(**order["limits"]), Path(order["directory"])
    restrict(limits, 0)
    words = json.dumps(outcome_of(partial(_do, order, directory, limits), limits))
    (directory / OUTCOME).write_text(without_secrets(words, order["connection"]))


def _do(order: dict[str, Any], directory: Path, limits: Limits) -> dict[str, Any]:
    # After the limits, so that they hold for all that the libraries allocate.
    with loading():
        from app.references.look import is_same  # noqa: PLC0415
        from app.references.reading import read  # noqa: PLC0415
        from app.references.schema import describe  # noqa: PLC0415

    connection, source = order["connection"], order["source"]
    if order["deed"] == Deed.COMPARE:
        return {"same": is_same(connection, source, order["origin"])}
    do = describe if order["deed"] == Deed.DESCRIBE else read
    return do(connection, source, directory, limits)


if __name__ == "__main__":
    main()
