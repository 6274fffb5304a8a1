"""`pith worker`, whose first fit of a large table halts in the middle."""

from __future__ import annotations

import sys

from app.logs import configure_logging
from worker.main import run

if __name__ == "__main__":
    configure_logging("info", "json")
    run(jobs=[sys.executable, "-m", "tests.worker.halting_jobs"], kernels=False)
