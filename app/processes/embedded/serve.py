"""`pith serve` without a database or broker of one's own: one data directory, four processes.

The children run the commands of the deployed service (`pith migrate`, `pith serve`, `pith worker`)
with the addresses of the embedded database and broker in their environment.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from app.addresses import is_loopback
from app.processes.embedded import StartError
from app.processes.embedded.lock import locked
from app.processes.embedded.valkey import choose_broker
from app.processes.kernels import COMPILE, environment, were_compiled
from app.processes.lifeline import command_of, spawn
from app.processes.supervisor import Child, Supervisor
from app.settings import Settings

BACKLOG = 2048
START_SECONDS = 120


def serve(settings: Settings, ready: Callable[[str], None], say: Callable[[str], None]) -> None:
    """Run everything until a signal; `ready` is told the address once requests are answered.

    `say` is told what is done until then, so that nobody waits for something unknown.
    """
    data_dir = settings.data_dir.absolute()
    _prepare(data_dir)
    with locked(data_dir), _listening(settings.host, settings.port) as listener:
        broker = choose_broker()
        env = {
            **os.environ,
            "PITH_DATA_DIR": str(data_dir),
            "PITH_DATABASE_URL": settings.database_url,
            "PITH_BROKER_URL": broker.url,
        }
        with Supervisor(settings.stop_seconds + 5) as supervisor:
            supervisor.add(broker.child(data_dir / "broker"))
            kernels = Child("kernels", COMPILE, environment(settings), once=True)
            # First of all: on a new machine the first job waits for nothing longer than for these.
            if is_new := not were_compiled(kernels.env):
                supervisor.add(kernels)
            say(f"Preparing the database in {data_dir}")
            _migrate(env)
            if not is_new:  # and will soon ask the database
                supervisor.add(kernels)
            say("Starting the API and a worker, which prepares itself the first time")
            supervisor.add(Child("worker", command_of("app", "worker", "--no-kernels"), env))
            _answering(supervisor, supervisor.add(_api(listener, env)), listener)
            if not supervisor.stopping:
                ready(_address(listener))
            supervisor.run()


def _prepare(data_dir: Path) -> None:
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        (data_dir / "pith.lock").touch()
    except OSError as error:
        raise StartError(f"{data_dir} cannot be written to: {error.strerror}.") from error


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """Listen here, not in the API's process: its restart then refuses no connection."""
    address = "127.0.0.1" if host == "localhost" else host
    if not is_loopback(address):
        raise StartError(
            f"The embedded service listens on loopback only, not on {host}: set PITH_DATABASE_URL "
            "and PITH_BROKER_URL to deploy it."
        )
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address, port))
        except OSError as error:
            raise StartError(
                f"Port {port} on {host} is not to be had ({error.strerror}): set PITH_PORT to "
                "another, or to 0 for any that is free."
            ) from error
        listener.listen(BACKLOG)
        yield listener


def _migrate(env: Mapping[str, str]) -> None:
    status = spawn(command_of("app", "migrate"), env=env, stdout=subprocess.DEVNULL).wait()
    if status != 0:
        raise StartError("The database could not be migrated; the lines above say why.")


def _api(listener: socket.socket, env: Mapping[str, str]) -> Child:
    number = listener.fileno()
    return Child("api", command_of("app", "serve", "--fd", str(number)), env, pass_fds=(number,))


def _answering(supervisor: Supervisor, api: Child, listener: socket.socket) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not supervisor.stopping and (problem := _unready(listener)):
        if not api.running:
            raise StartError("The API ended while starting; the lines above say why.")
        if time.monotonic() > deadline:
            raise StartError(f"The API was not ready after {START_SECONDS} seconds: {problem}")
        supervisor.tend()


def _unready(listener: socket.socket) -> str:
    """What keeps the API from being ready; nothing when it is."""
    host, port = listener.getsockname()[:2]
    with closing(HTTPConnection(host, port, timeout=5)) as connection:
        try:
            connection.request("GET", "/readyz")
            answer = connection.getresponse()
            body = answer.read().decode(errors="replace")
        except (OSError, HTTPException) as error:
            return f"it does not answer ({error})."
    return "" if answer.status == 200 else body


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
