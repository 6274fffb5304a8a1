"""Keeps a few child processes running until told to stop.

Everything happens in the main thread: children are tied to the thread that forked them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog

from app.processes.lifeline import spawn

POLL_SECONDS = 0.1
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
STABLE_SECONDS = 60.0

log = structlog.get_logger(__name__)


@dataclass
class Child:
    """One program that should be running, or run `once`; `failures` counts those in succession."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str]
    pass_fds: tuple[int, ...] = ()
    stdin: bytes = b""
    quiet: bool = False
    once: bool = False
    process: subprocess.Popen[bytes] | None = None
    failures: int = 0
    started: float = 0.0
    resume: float = 0.0
    asked: bool = False

    def start(self) -> None:
        """Start the program in a session of its own, out of reach of the terminal's Ctrl-C."""
        self.started = time.monotonic()
        self.process = spawn(
            self.command,
            env=self.env,
            pass_fds=self.pass_fds,
            stdin=subprocess.PIPE if self.stdin else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if self.quiet else sys.stderr,
            start_new_session=True,
        )
        if self.process.stdin is not None:
            self.process.stdin.write(self.stdin)
            self.process.stdin.close()

    @property
    def running(self) -> bool:
        """Whether the program is running now."""
        return self.process is not None and self.process.poll() is None

    def tend(self) -> None:
        """Start the program again when it has ended, after a pause that grows."""
        now = time.monotonic()
        if self.process is not None and self.process.poll() is not None and not self.once:
            self._mourn(self.process.returncode, now)
        if self.process is None and now >= self.resume:
            self.start()

    def _mourn(self, status: int, now: float) -> None:
        self.failures = 1 if now - self.started > STABLE_SECONDS else self.failures + 1
        pause = min(FIRST_PAUSE_SECONDS * 2 ** (self.failures - 1), LONGEST_PAUSE_SECONDS)
        self.process, self.resume = None, now + pause
        log.warning("child ended", child=self.name, status=status, restart_in_seconds=pause)

    def ask_to_stop(self) -> None:
        """Ask once: to some programs a second signal means at once."""
        if self.process is not None and not self.asked:
            self.process.terminate()
            self.asked = True

    def stop(self, seconds: float) -> None:
        """See the program end; kill its whole session when it does not in time."""
        self.ask_to_stop()
        if self.process is None:
            return
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            log.warning("child killed", child=self.name, after_seconds=seconds)
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Supervisor:
    """Children in the order of their start; the first, which the others need, stops last."""

    def __init__(self, stop_seconds: float) -> None:
        self.children: list[Child] = []
        self.stop_seconds = stop_seconds
        self._stopping = threading.Event()

    @property
    def stopping(self) -> bool:
        """Whether a signal has asked for the end."""
        return self._stopping.is_set()

    def __enter__(self) -> Supervisor:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._stopping.set())
        return self

    def __exit__(self, *_exception: object) -> None:
        for child in self.children[1:]:
            child.ask_to_stop()
        for child in reversed(self.children):
            child.stop(self.stop_seconds)

    def add(self, child: Child) -> Child:
        """Start a child and look after it from now on."""
        child.start()
        self.children.append(child)
        return child

    def tend(self) -> None:
        """Pause a moment, then start again what has ended."""
        if not self._stopping.wait(POLL_SECONDS):
            for child in self.children:
                child.tend()

    def run(self) -> None:
        """Look after the children until a signal asks for the end."""
        while not self.stopping:
            self.tend()
