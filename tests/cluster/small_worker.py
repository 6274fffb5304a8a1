"""`pith worker`, for which small tables are large."""

from __future__ import annotations

import sys

from app.logs import configure_logging
from worker.main import run

if __name__ == "__main__":
    configure_logging("info", "json")
    run(jobs=[sys.executable, "-m", "tests.cluster.small_jobs"], kernels=False)
