"""`pith connections check`: each connection is tried, and what is wrong is told."""

from __future__ import annotations

import json

import typer

from app.connections.registry import Connections
from app.references.trial import try_connection

WRONG = 1


def check(connections: Connections, *, as_json: bool) -> None:
    """Print a line for each; the exit code tells whether all of them work."""
    found = {name: try_connection(one) for name, one in sorted(connections.by_name.items())}
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        for name, wrong in found.items():
            typer.echo(f"{name}: {wrong or 'works'}")
    if any(found.values()):
        raise typer.Exit(WRONG)
