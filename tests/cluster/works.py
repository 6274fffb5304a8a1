"""What the workers of a test's cluster are asked to do; they import it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from core.arrays import Values
from core.errors import InvalidData
from core.workers import Workers

Part = tuple[Path, int]


def number_noted(part: Part) -> int:
    """A block that is a number; that it was made, and by whom, is to be seen in a directory."""
    directory, number = part
    (directory / f"{number}-{os.getpid()}").touch()
    return number


def whose(block: int, argument: int, workers: Workers) -> list[tuple[int, int, int]]:
    return [(os.getpid(), block + argument, workers.n_threads)]


def sleep(block: int, argument: float, workers: Workers) -> int:
    time.sleep(argument)
    return 0


def fail(block: int, argument: int, workers: Workers) -> None:
    raise FileNotFoundError(f"of block {block}")


def refuse(part: str) -> list[str]:
    raise InvalidData(f"column {part!r} holds text", part)


def doubled(block: int, argument: Values, workers: Workers) -> list[tuple[bool, Values]]:
    return [(bool(argument.flags.aligned and argument.flags.writeable), 2 * argument)]
