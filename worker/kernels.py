"""The program that compiles what jobs will need, beside the one that runs them, and then ends.

It begins with the last kernel of those that a first job needs: the process that runs jobs compiles
from the front, and both keep what they compile in the same cache. At its end, when nothing is left
to compile, it finds out how fast the worker is.
"""

from __future__ import annotations

import os

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.db.session import Database
from app.jobs import speeds
from app.logs import configure_logging
from app.processes import cpus
from app.settings import Settings, get_settings
from core.cost.work import Speed
from core.warm import warm_from_the_end, warm_kernels
from worker.calibration import measure

log = structlog.get_logger(__name__)

# Nobody waits for what a default job does not need.
LOWEST_PRIORITY = 19


def main() -> None:
    """Compile what a default job needs, then everything else; then measure."""
    warm_from_the_end()
    os.nice(LOWEST_PRIORITY)
    warm_kernels()
    settings = get_settings()
    configure_logging(settings.log_level, settings.log_format)
    calibrate(settings)


def calibrate(settings: Settings) -> None:
    """Tell all who read the database how fast this worker is."""
    speed = Speed(measure(), settings.worker_threads or cpus.available())
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
