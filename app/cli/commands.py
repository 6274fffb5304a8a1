"""The command line: `pith serve | worker | migrate | select | keys | connections | version`.

The doorkeeper alone reaches every room, and imports each one late: `pith --help` answers at once,
the API never loads numba, and the worker never loads FastAPI.
"""

# ruff: noqa: PLC0415

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from app.cli.greeting import greet, say
from app.keys.scopes import Scope
from app.processes.loading import loading
from app.processes.parts import Part

if TYPE_CHECKING:
    from app.cli.keys import KeysConsole
    from app.settings import Settings

EXEMPT = (
    "Row-level security does not hold for the role of PITH_DATABASE_URL, a superuser: tenants are "
    "kept apart by the queries alone. Use a role that owns the database and is no superuser."
)
BAD_INPUT = 2
INTERRUPTED = 130

cli = typer.Typer(
    help="Feature selection as a service.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

keys = typer.Typer(help="Create, list and revoke the keys of callers.", no_args_is_help=True)
cli.add_typer(keys, name="keys")
connections = typer.Typer(help="Try the connections of PITH_CONNECTIONS.", no_args_is_help=True)
cli.add_typer(connections, name="connections")
USUAL_SCOPES = [Scope.READ, Scope.WRITE]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def main() -> None:
    """Run the command line."""
    try:
        cli()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


@contextmanager
def _leaving_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process: raised inside the import of a Rust library, it is a panic."""
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@cli.command()
def serve(
    fd: Annotated[
        int | None, typer.Option(help="Take connections from this inherited listening socket.")
    ] = None,
) -> None:
    """Answer requests: the whole service in one directory, or the API of a deployed one.

    With PITH_DATABASE_URL and PITH_BROKER_URL set this is the API alone. Without them it also
    starts a broker and a worker, and keeps everything under PITH_DATA_DIR. It listens on PITH_HOST
    and PITH_PORT.
    """
    settings = _settings()
    if settings.broker_url:
        with loading():
            from app.api.door.server import run_server
            from app.main import create_app

        run_server(create_app, settings, fd)
    else:
        _serve_embedded(settings)


@cli.command()
def worker(
    only: Annotated[
        Part | None, typer.Argument(help="Run jobs alone, or read uploads and sweep alone.")
    ] = None,
    kernels: Annotated[
        bool, typer.Option(help="Compile kernels that are missing, beside the jobs.")
    ] = True,
) -> None:
    """Run jobs, read uploads and sweep, called through PITH_BROKER_URL."""
    settings = _settings()
    if not settings.broker_url:
        _refuse("A worker needs PITH_BROKER_URL; without one, pith serve starts its own worker.")
    from worker.main import run

    run(only, kernels=kernels)


@cli.command()
def migrate() -> None:
    """Bring the database of PITH_DATABASE_URL to the newest schema."""
    settings = _settings()
    from app.db.migrate import is_current, is_exempt, upgrade
    from app.db.session import make_engine
    from app.errors import Unavailable

    settings.data_dir.mkdir(parents=True, exist_ok=True)
    try:
        upgrade(settings.database_url)
    except Unavailable as error:
        _refuse(error.detail)
    if not is_current(make_engine(settings.database_url, pool_size=0)):
        _refuse("The database was migrated by a later version, and this one cannot work on it.")
    if is_exempt(settings.database_url):
        typer.echo(f"pith: {EXEMPT}", err=True)
    typer.echo("The database is up to date.")


@cli.command("select")
def select_features(
    file: Annotated[
        str,
        typer.Argument(help="CSV, Parquet or Arrow: a file, s3://bucket/*.parquet, https://..."),
    ],
    target: Annotated[str, typer.Option("--target", "-t", help="Column to be predicted.")],
    k: Annotated[str, typer.Option("-k", help="How many features, or auto.")] = "auto",
    method: Annotated[
        str, typer.Option(help='Name, or JSON such as {"name": "gsm_cpd", "ranks": [10]}.')
    ] = "gsm_cpd",
    include: Annotated[list[str] | None, typer.Option(help="Feature chosen first.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Feature never chosen.")] = None,
    bins: Annotated[int, typer.Option(help="Levels of a continuous column.")] = 5,
    strategy: Annotated[
        str, typer.Option(help="How they are cut: auto, uniform, quantile, supervised.")
    ] = "auto",
    missing: Annotated[
        str, typer.Option(help="Whether a missing value is a level: auto, level, ignore.")
    ] = "auto",
    target_bins: Annotated[int, typer.Option(help="Ranges of a target that is a number.")] = 5,
    weight_column: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
    evaluate: Annotated[bool, typer.Option("--evaluate", help="Held-out accuracy too.")] = False,
    compare: Annotated[
        str, typer.Option(help="Methods to compare, as mrmr,jmim,gsm_cpd or a JSON list.")
    ] = "",
    splits: Annotated[int, typer.Option(help="On how many splits they are compared.")] = 10,
    stability: Annotated[int, typer.Option(help="Random halves of the rows to choose on.")] = 0,
    seed: Annotated[int, typer.Option(help="Same seed, same answer.")] = 0,
    threads: Annotated[int, typer.Option(help="0 takes all cores there are for it.")] = 0,
    scratch: Annotated[
        Path | None, typer.Option(help="Directory for a table that memory cannot hold.")
    ] = None,
    dask: Annotated[str, typer.Option(help="Scheduler of a cluster to fit on: tcp://...")] = "",
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Also write the JSON here.")] = None,
    report: Annotated[Path | None, typer.Option(help="Also write an HTML report here.")] = None,
) -> None:
    """Select features of a file in this process, without a service."""
    with _leaving_at_once(), loading():
        from app.cli import options, select
        from app.processes import cpus
        from core.errors import CoreError, ScratchFault

    try:
        config = options.configure(
            k=k,
            method=method,
            include=include or [],
            exclude=exclude or [],
            bins=bins,
            strategy=strategy,
            missing=missing,
            target_bins=target_bins,
            weight_column=weight_column,
            evaluate=evaluate,
            seed=seed,
            n_threads=threads or cpus.available(),
        )
        comparison = options.configure_comparison(compare, splits)
        samples = options.configure_samples(stability)
        table = select.read(file)
        with table.typed:
            result = select.run(table, target, config, comparison, samples, scratch, dask)
    except (CoreError, ScratchFault) as error:
        _refuse(str(error))
    select.deliver(result, as_json=json, out=out)
    if report is not None:
        select.write_report(result, table, report)


@keys.command("create")
def create_key(
    tenant: Annotated[str, typer.Option(help="Whose data it opens.")] = "default",
    scope: Annotated[
        list[Scope], typer.Option(help="What it allows; give it again for more.")
    ] = USUAL_SCOPES,
    days: Annotated[int, typer.Option(help="Days until it expires.")] = 365,
    name: Annotated[str, typer.Option(help="A note for you.")] = "",
    json: AsJson = False,
) -> None:
    """Create a key and show it, this once."""
    with _keys_console() as console:
        console.create(tenant, scope, days, name, as_json=json)


@keys.command("list")
def list_keys(
    tenant: Annotated[str | None, typer.Option(help="Of this tenant only.")] = None,
    json: AsJson = False,
) -> None:
    """List keys: whose, what for, until when, last used when."""
    with _keys_console() as console:
        console.show(tenant, as_json=json)


@keys.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(help="As listed: key_...")], json: AsJson = False
) -> None:
    """Revoke a key; it stops working within a second."""
    with _keys_console() as console:
        console.revoke(key_id, as_json=json)


@connections.command("check")
def check_connections(json: AsJson = False) -> None:
    """Try each connection with its own secrets, and say what is wrong with it.

    Folders are listed, those to be written to get a file that is deleted again, hosts and databases
    are called. The exit code is 0 if all work, 1 if one does not, 2 if the file cannot be used.
    """
    settings = _settings()
    from app.cli.connections import check
    from app.connections.registry import BadConnections, load_connections

    if settings.connections is None:
        _refuse("There is no file of connections: see PITH_CONNECTIONS.")
    try:
        check(load_connections(settings.connections), as_json=json)
    except BadConnections as error:
        _refuse(str(error))


@contextmanager
def _keys_console() -> Iterator[KeysConsole]:
    settings = _settings()
    from sqlalchemy.exc import SQLAlchemyError

    from app.cli.keys import KeysConsole
    from app.errors import ServiceError

    try:
        with KeysConsole(settings) as console:
            yield console
    except ServiceError as error:
        _refuse(error.detail)
    except SQLAlchemyError as error:
        _refuse(f"The database does not answer ({type(error).__name__}): see PITH_DATABASE_URL.")


@cli.command()
def version() -> None:
    """Print the version."""
    typer.echo(installed_version("pith"))


def _settings() -> Settings:
    from pydantic import ValidationError

    from app.logs import configure_logging
    from app.settings import get_settings
    from app.traces import current

    try:
        settings = get_settings()
    except ValidationError as error:
        _refuse("; ".join(f"{_variable(e['loc'])}{e['msg']}" for e in error.errors()))
    if settings.traces_url and not current.is_installed():
        _refuse(current.MISSING)
    configure_logging(settings.log_level, settings.log_format)
    _keep_private(settings)
    return settings


def _keep_private(settings: Settings) -> None:
    """What the service writes is for its own user alone: rows and uploads of all tenants."""
    os.umask(0o077)
    # Of an older version, if any; SQLite gives its other files the same mode.
    with suppress(OSError):
        (settings.data_dir / "pith.db").chmod(0o600)


def _variable(location: tuple[int | str, ...]) -> str:
    return f"PITH_{location[0]}: ".upper() if location else ""


def _serve_embedded(settings: Settings) -> None:
    from app.processes.embedded import StartError
    from app.processes.embedded.serve import serve as serve_embedded

    try:
        serve_embedded(settings, greet, say)
    except StartError as reason:
        _refuse(str(reason))


def _refuse(sentence: str) -> NoReturn:
    typer.echo(f"pith: {sentence}", err=True)
    raise typer.Exit(BAD_INPUT)
