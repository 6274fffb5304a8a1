"""The program that runs jobs, with the stand-in engine."""

from __future__ import annotations

from app.processes.loading import loading

if __name__ == "__main__":
    with loading():
        from tests.worker.fake_engine import install

        install()
        from worker.jobs import main
    main()
