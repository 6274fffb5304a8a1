"""The threads that write results to where jobs want them, beside the reading of uploads."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Concatenate, ParamSpec, TypeVar

import structlog
from sqlalchemy.orm import Session

from app.connections.registry import BadConnections, with_secrets
from app.datasets.faults import Damaged, Rejected
from app.db.base import Reader
from app.errors import Invalid, NotFound
from app.jobs import deliveries, exports
from app.jobs.destination import check_destination
from app.jobs.exports import Errand
from app.logs import job_context
from app.outcomes.export import Undelivered, Written, export, open_folder
from app.outcomes.files import files_of
from app.outcomes.reading import Read
from worker.process import Process
from worker.rounds import Rounds

log = structlog.get_logger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

# Longer than one request takes with its repetitions; between two the lease is renewed.
LEASE = timedelta(minutes=3)
DISCONNECTED = "the connection cannot be used"
FAULT = "the service failed at it; its log has the reason under the job's id"


class Interrupted(Exception):
    """The delivery was taken away, or this worker was told to stop."""


class Exporter(Rounds):
    """Writes results out until stopped."""

    name = "export"

    def __init__(self, process: Process) -> None:
        super().__init__(process.settings, process.settings.worker_exporters)
        self._process = process

    def find_due(self, session: Reader, limit: int) -> Sequence[str]:
        """Jobs with files to write."""
        return deliveries.find_due(session, limit)

    def serve(self, identifier: str) -> None:
        """Write the files of one job; what keeps them from being written puts it off."""
        owner = self._process.new_owner()
        with self._database.write() as session:
            errand = exports.claim(session, identifier, owner, LEASE, self._settings)
        if errand is not None:
            with job_context(identifier, attempt=errand.claim.attempt):
                _Delivering(self, errand).run()

    def deliver(self, errand: Errand, delivering: _Delivering) -> None:
        """One attempt."""
        process, place = self._process, errand.destination
        connection = check_destination(process.connections, errand.tenant, place)
        folder = open_folder(with_secrets(connection), place.path)
        read, job_id = self._read_as(errand.tenant), errand.claim.job_id
        files = files_of(read, process.store, job_id, data=place.data)
        delivering.expect(len(files))
        export(folder, job_id, files, delivering.beat, delivering.tell)

    def _read_as(self, tenant: str) -> Read:
        def read(
            call: Callable[Concatenate[Reader, str, P], T], *args: P.args, **kw: P.kwargs
        ) -> T:
            return self._database.read_again(lambda session: call(session, tenant, *args, **kw))

        return read

    def write(self, call: Callable[[Session], T]) -> T:
        """Write to the rows of an errand."""
        with self._database.write() as session:
            return call(session)

    @property
    def is_stopping(self) -> bool:
        """Whether somebody told this worker to stop."""
        return self._stop.is_set()


class _Delivering:
    """One attempt and how far it has come."""

    def __init__(self, exporter: Exporter, errand: Errand) -> None:
        self._exporter = exporter
        self._errand = errand
        self._delivery = errand.delivery
        self._seconds = exporter._settings.heartbeat_seconds
        self._told = time.monotonic()

    def run(self) -> None:
        """Try, and write down what came of it."""
        write, errand, settings = self._exporter.write, self._errand, self._exporter._settings
        try:
            self._exporter.deliver(errand, self)
        except Interrupted:
            write(lambda session: exports.hand_back(session, errand))
        except (NotFound, Damaged) as error:  # what was to be written is gone
            why = error.detail
            write(lambda session: exports.give_up(session, errand, self._delivery, why))
        except Exception as error:  # every fault puts it off, and none ends the thread
            why = _reason(error)
            log.warning("result not delivered", why=why)
            write(lambda session: exports.put_off(session, errand, self._delivery, why, settings))
        else:
            log.info("result delivered", n_bytes=self._delivery.n_bytes)
            write(lambda session: exports.delivered(session, errand, self._delivery))

    def expect(self, n_files: int) -> None:
        """So many files are to be written."""
        self._delivery = replace(self._delivery, n_files=n_files)

    def tell(self, written: Written) -> None:
        """One more is there."""
        n_bytes = self._delivery.n_bytes + written.bytes
        n_written = self._delivery.n_written + 1
        self._delivery = replace(self._delivery, n_written=n_written, n_bytes=n_bytes)
        self.beat()

    def beat(self) -> None:
        """Called often: shows how far it is when it is time, and raises when it is to stop."""
        if self._exporter.is_stopping:
            raise Interrupted
        if time.monotonic() - self._told > self._seconds:
            self._told = time.monotonic()
            if not self._exporter.write(self._show):
                raise Interrupted

    def _show(self, session: Session) -> bool:
        return exports.tell(session, self._errand, self._delivery, LEASE)


def _reason(error: Exception) -> str:
    if isinstance(error, Undelivered | Rejected):
        return str(error)
    if isinstance(error, BadConnections | Invalid):  # an operator took something away
        log.warning("connection not used", error=str(error))
        return DISCONNECTED
    log.error("export failed by a fault of ours", exc_info=error)
    return FAULT
