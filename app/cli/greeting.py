"""What `pith serve` says while it starts, and when it has."""

from __future__ import annotations

from importlib.metadata import version

import typer


def say(words: str) -> None:
    """What is being done; on stderr, where it is in nobody's way."""
    typer.echo(f"{words} ...", err=True)


def greet(address: str) -> None:
    """It answers: where, and what to do first."""
    body = "-H 'Content-Type: text/csv' --data-binary @examples/wine.csv"
    typer.echo(f"Pith {version('pith')} answers at {address} (open it in a browser)")
    typer.echo(f"Upload a file:\n  curl {body} {address}/v1/datasets")
