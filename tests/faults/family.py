"""The processes of a worker, and what is done to them."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress

import psutil


def make_room(process: psutil.Process, most: int) -> None:
    """Let a process write files again."""
    with suppress(psutil.NoSuchProcess):
        process.rlimit(psutil.RLIMIT_FSIZE, (most, most))


def belongs(process: psutil.Process, directory: str) -> bool:
    """Whether a process serves the data in this directory."""
    environ = process.info["environ"] or {}
    return directory in environ.get("PITH_DATA_DIR", "") and process.pid != os.getpid()


def family(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """The process and all below it, the main one first."""
    try:
        parent = psutil.Process(process.pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def pool(worker: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """The processes that run its jobs."""
    programs = [p for p in family(worker)[1:] if p.ppid() == worker.pid]
    jobs = [p for p in programs if "jobs" in p.cmdline()]
    return [child for program in jobs for child in program.children()]


def send(members: list[psutil.Process], number: int) -> None:
    """Signal those that are still there."""
    for member in members:
        with suppress(psutil.NoSuchProcess):
            member.send_signal(number)
