"""Compiled kernels on a volume, for each engine in a folder of its own.

A volume outlives the image it was first filled from: kernels of a later one would be hidden, or
those of an older one be taken for them.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from app.provenance import engine_key

# Where the image keeps what was compiled with it.
SHIPPED = Path(sys.prefix) / "kernels"


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
