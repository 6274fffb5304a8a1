"""`pith worker` with the stand-in engine, which only the program that runs jobs has to load."""

from __future__ import annotations

import sys

from app.logs import configure_logging
from worker.main import run

if __name__ == "__main__":
    configure_logging("info", "json")
    run(jobs=[sys.executable, "-m", "tests.worker.fake_jobs"], kernels=False)
