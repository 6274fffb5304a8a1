"""The program that compiles what jobs will need, beside the one that runs them, and then ends.

It begins with the last kernel of those that a first job needs: the process that runs jobs compiles
from the front, and both keep what they compile in the same cache. When nothing is left to compile,
it finds out how fast the worker is. Where all that has been done before, it ends at once.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

import structlog
from llvmlite import binding as llvm
from sqlalchemy.exc import SQLAlchemyError

from app.db.session import Database
from app.jobs import speeds
from app.logs import configure_logging
from app.processes import cpus
from app.processes.kernels import MARK, folder_of
from app.provenance import sources, versions
from app.settings import Settings, get_settings
from core.cost.work import Speed

log = structlog.get_logger(__name__)

# Nobody waits for what a default job does not need.
LOWEST_PRIORITY = 19


def main() -> None:
    """Compile what a default job needs, then everything else; then measure."""
    settings = get_settings()
    configure_logging(settings.log_level, settings.log_format)
    mark = mark_of_all()
    if is_new := not mark.exists():
        compile_all()
        with suppress(OSError):  # where numba cannot write either, it keeps kernels elsewhere
            mark.touch()
    if is_new or not is_measured(settings):
        calibrate(settings)


def mark_of_all() -> Path:
    """Lies among the kernels when all are there: of these sources, libraries and processor."""
    files = [(path, path.stat()) for path in sorted(sources().rglob("*.py"))]
    stamps = [(str(path), stat.st_mtime_ns, stat.st_size) for path, stat in files]
    processor = (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    known = repr((stamps, sorted(versions().items()), processor)).encode()
    return folder_of(os.environ) / f"{MARK}{hashlib.sha256(known).hexdigest()[:16]}"


def compile_all() -> None:
    """Whatever any job may need."""
    # Loads numba and all of the engine, a second that is lost where nothing is to be compiled.
    from core.warm import warm_from_the_end, warm_kernels  # noqa: PLC0415

    warm_from_the_end()
    os.nice(LOWEST_PRIORITY)
    warm_kernels()


def is_measured(settings: Settings) -> bool:
    """Whether the speed of a worker with as many threads is known."""
    database = Database(settings.database_url, connections=0)
    try:
        with database.read() as session:
            speed = speeds.newest(session)
    except SQLAlchemyError:
        return False
    finally:
        database.dispose()
    return speed is not None and speed.n_threads == _n_threads(settings)


def _n_threads(settings: Settings) -> int:
    return settings.worker_threads or cpus.available()


def calibrate(settings: Settings) -> None:
    """Tell all who read the database how fast this worker is."""
    from worker.calibration import measure  # noqa: PLC0415  loads all of the engine

    speed = Speed(measure(), _n_threads(settings))
    database = Database(settings.database_url, connections=0)
    try:
        with database.write() as session:
            speeds.keep(session, speed)
    except SQLAlchemyError as error:  # estimates go on from what was measured before
        log.warning("speed not kept", error=str(error))
    else:
        log.info("worker measured", **speed.nanoseconds)
    finally:
        database.dispose()
