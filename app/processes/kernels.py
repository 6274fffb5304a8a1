"""Compiled kernels on a volume, for each engine in a folder of its own.

A volume outlives the image it was first filled from: kernels of a later one would be hidden, or
those of an older one be taken for them.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from app.processes import cpus
from app.processes.lifeline import command_of
from app.provenance import engine_key, sources
from app.settings import Settings

# The program that compiles what jobs will need, and ends.
COMPILE = command_of("worker", "kernels")

# Where the image keeps what was compiled with it.
SHIPPED = Path(sys.prefix) / "kernels"

# How the name of a file begins that is written when all kernels are.
MARK = "all-"


def prepare(directory: Path, shipped: Path = SHIPPED) -> Path:
    """The folder for the kernels of this engine, filled with those that were shipped."""
    folder = directory / engine_key()
    if shipped.is_dir() and not folder.exists():
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory, ignore_cleanup_errors=True) as aside:
            copy = shutil.copytree(shipped, Path(aside) / "kernels")
            with suppress(OSError):  # another worker was faster
                copy.rename(folder)
    return folder


def environment(settings: Settings) -> Mapping[str, str]:
    """What the libraries of the engine have to know before they are loaded."""
    # A library that counts the machine's cores would start a thread on each.
    env = {"OPENBLAS_NUM_THREADS": str(settings.worker_threads or cpus.available()), **os.environ}
    if settings.kernel_dir is not None:
        env["NUMBA_CACHE_DIR"] = str(prepare(settings.kernel_dir))
    return env


def folder_of(env: Mapping[str, str]) -> Path:
    """Where kernels are kept, or beside which."""
    return Path(env.get("NUMBA_CACHE_DIR") or sources() / "__pycache__")


def were_compiled(env: Mapping[str, str]) -> bool:
    """Whether all kernels were compiled once, if not by the engine of today."""
    return any(folder_of(env).glob(f"{MARK}*"))
