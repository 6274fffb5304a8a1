"""Postgres, Valkey, the API and workers as real processes, for the benchmarks of the service."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from app.processes.lifeline import spawn
from tests import servers

ROOT = Path(__file__).parents[1]
START_SECONDS = 120


@dataclass(frozen=True)
class Stage:
    """Where everything runs."""

    directory: Path
    env: dict[str, str]
    api: subprocess.Popen[bytes]
    api_port: int
    client: httpx.Client


@contextmanager
def stage(**more: str) -> Iterator[Stage]:
    """A fresh database, a broker and the API."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pith-bench-")))
        database = stack.enter_context(servers.postgres())
        broker = stack.enter_context(servers.valkey())
        port = servers.free_port()
        env = {
            **os.environ,
            "PITH_DATA_DIR": str(directory / "data"),
            "PITH_DATABASE_URL": database.url(database.create()),
            "PITH_BROKER_URL": broker.url(),
            "PITH_PORT": str(port),
            "PITH_LOG_FORMAT": "json",
            **more,
        }
        subprocess.run(
            [sys.executable, "-m", "app", "migrate"], env=env, check=True, stdout=subprocess.DEVNULL
        )
        api = stack.enter_context(running(["-m", "app", "serve"], env, directory / "api.log"))
        url = f"http://127.0.0.1:{port}"
        client = stack.enter_context(httpx.Client(base_url=url, timeout=600))
        until(lambda: client.get("/readyz").status_code == 200)
        yield Stage(directory, env, api, port, client)


@contextmanager
def worker(stage: Stage, number: int = 0) -> Iterator[subprocess.Popen[bytes]]:
    """One worker beside the API."""
    log = stage.directory / f"worker{number}.log"
    with running(["-m", "app", "worker"], stage.env, log) as process:
        yield process


@contextmanager
def running(
    arguments: list[str], env: dict[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A Python program of ours, stopped at the end."""
    with log.open("wb") as output:
        command = [sys.executable, *arguments]
        process = spawn(command, env=env, stdout=output, stderr=output, cwd=ROOT)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that takes a moment to be there."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            if condition():
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise TimeoutError("a server did not start")
