"""`python -m worker jobs | reads | kernels`: one of the programs of a worker."""

from __future__ import annotations

import sys
from importlib import import_module

from app.processes.loading import loading

with loading():
    program = import_module(f"worker.{sys.argv[1]}")
program.main()
