"""The program that runs jobs, with the real engine, for which small tables are large."""

from __future__ import annotations

from app.processes.loading import loading

if __name__ == "__main__":
    with loading():
        from tests.cluster.budgets import SMALL
        from worker.jobs import main

        for module, name, value in SMALL:
            setattr(module, name, value)
    main()
