"""What a person sees while a job runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from pith_client.models import Job

Progress = bool | Callable[[Job], None] | None
"""True draws a bar, a callable is told the job whenever it changes; None is a bar on terminals."""

WIDTH = 30
PHASES = {
    "prepare": "Preparing the worker",
    "encode": "Encoding columns",
    "rank": "Searching cuts and states",
    "fit": "Fitting the model",
    "select": "Choosing features",
    "evaluate": "Measuring accuracy",
}


@contextmanager
def showing(progress: Progress) -> Iterator[Callable[[Job], None]]:
    """Give what is to be told of every change."""
    if callable(progress):
        yield progress
    elif progress or (progress is None and sys.stderr.isatty()):
        bar = Bar(sys.stderr)
        try:
            yield bar
        finally:
            bar.clear()
    else:
        yield lambda job: None


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


class Bar:
    """One line that is drawn over itself."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __call__(self, job: Job) -> None:
        """Draw the job as it is."""
        full = round(WIDTH * job.progress)
        phase = PHASES.get(job.phase or "", "Running") if job.status == "running" else job.status
        line = f"{phase.capitalize():<25} {'━' * full}{'╌' * (WIDTH - full)} {job.progress:>4.0%}"
        left = "" if job.seconds_left is None else f"  about {_duration(job.seconds_left)} left"
        self._write(f"\r{line}{left}  {job.id}\x1b[K")

    def clear(self) -> None:
        """Leave nothing behind."""
        self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        encoding = self._stream.encoding or "ascii"
        self._stream.write(text.encode(encoding, "replace").decode(encoding))
        self._stream.flush()
