"""What is compiled before a first job is all that it needs, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from core import warm
from core.config import SelectionConfig
from core.default_kernels import DEFAULT
from core.pipeline import select_features

WINE = Path(__file__).parents[2] / "examples" / "wine.csv"


def compiled() -> set[str]:
    """Every kernel, with the kinds of its arguments, that this process has compiled or loaded."""
    modules = [module for name, module in sys.modules.items() if name.startswith("core.")]
    kernels = {
        f"{kernel.py_func.__module__}.{name}": kernel
        for module in modules
        for name, kernel in vars(module).items()
        if isinstance(kernel, Dispatcher)
    }
    return {f"{name}{kind}" for name, kernel in kernels.items() for kind in kernel.signatures}


def ask_for_wine() -> None:
    header = WINE.read_text().splitlines()[0].split(",")
    values = np.loadtxt(WINE, delimiter=",", skiprows=1, dtype=str)
    columns: dict[str, Any] = {
        name: column if name == "cultivar" else column.astype(float)
        for name, column in zip(header, values.T, strict=True)
    }
    select_features(columns, "cultivar", SelectionConfig(5, n_threads=1))


def main() -> None:
    warm.select_tiny()
    called = compiled()
    ask_for_wine()
    json.dump([sorted(called), sorted(compiled() - called)], sys.stdout)


def test_what_a_default_job_calls_is_listed() -> None:
    # In a process of its own: this one may have compiled anything already.
    command = [sys.executable, "-m", "tests.core.test_warm"]
    called, missing = json.loads(subprocess.check_output(command, text=True))
    assert missing == []
    listed = {f"{kernel.py_func.__module__}.{kernel.__name__}{kinds}" for kernel, kinds in DEFAULT}
    assert set(called) - listed == set()
    assert listed - set(called) == set()


if __name__ == "__main__":
    main()
