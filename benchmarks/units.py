"""Work in small units that is never done twice: one line of JSON for each unit that is done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import core

OURS = "Pith"

Document = dict[str, Any]
Task = TypeVar("Task")


def digest_of_core() -> str:
    """The very code: what another version did must be done again."""
    sources = sorted(Path(core.__path__[0]).rglob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]


def read_units(store: Path) -> list[Document]:
    """Read what was done; a line that a killed run left unfinished does not count."""
    lines = store.read_text().splitlines() if store.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def do_units(
    tasks: Sequence[Task], do: Callable[[Task], Document], name: Callable[[Task], str], store: Path
) -> None:
    """Do every task in turn and append what it gives."""
    store.parent.mkdir(parents=True, exist_ok=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn()) as bar, store.open("a") as units:
        shown = bar.add_task("", total=len(tasks))
        for task in tasks:
            bar.update(shown, description=name(task))
            # The line break comes first: it also ends what a killed run left unfinished.
            units.write("\n" + json.dumps(do(task)))
            units.flush()
            bar.advance(shown)
