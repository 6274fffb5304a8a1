"""Reads a reference into typed columns: `python -m app.references.child`, with its order on stdin.

Or tells what they would be.

A program of its own for the reasons of `app.datasets.ingest`, which it resembles. Of all secrets it
gets those of the one connection it reads from; they come by stdin, for others can see arguments
and environments.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from app.datasets.faults import Passing, Rejected
from app.datasets.ingest import OUTCOME, restrict
from app.datasets.limits import Limits
from app.references.secrecy import without_secrets


def main() -> None:
    """Read, and leave the outcome in the order's directory."""
    order = json.load(sys.stdin)
    limits, directory = Limits(**order["limits"]), Path(order["directory"])
    restrict(limits, 0)
    # After the limits, so that they hold for all that the libraries allocate.
    from app.references.reading import read  # noqa: PLC0415
    from app.references.schema import describe  # noqa: PLC0415

    do = describe if order.get("only_schema") else read
    try:
        outcome = do(order["connection"], order["source"], directory, limits)
    except Rejected as error:
        outcome = {"rejected": str(error)}
    except Passing as error:
        outcome = {"failed": str(error)}
    except MemoryError:
        outcome = {"rejected": limits.out_of_memory}
    words = json.dumps(outcome)
    (directory / OUTCOME).write_text(without_secrets(words, order["connection"]))


if __name__ == "__main__":
    main()
