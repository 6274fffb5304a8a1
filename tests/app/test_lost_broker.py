"""A broker that refuses, and one that accepts and never answers: nothing waits for them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import servers
from tests.app.running import running_api, running_worker

SWEEPING = {
    "PITH_SWEEP_SECONDS": "0.2",
    "PITH_RESEND_SECONDS": "0.5",
    "PITH_LEASE_SECONDS": "3",
}


class HungBroker:
    """Takes connections, and keeps what it is told to itself."""

    def __init__(self, listener: socket.socket) -> None:
        self.url = f"redis://127.0.0.1:{listener.getsockname()[1]}/0"
        self.connections: list[socket.socket] = []
        self.rung = threading.Event()
        self._listener = listener
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # closed by the test
                return
            self.connections.append(connection)
            self.rung.set()

    def is_waited_for(self) -> bool:
        """Whether somebody who asked has not given up yet."""
        self.connections[0].setblocking(False)
        try:
            while self.connections[0].recv(4096):
                pass
        except BlockingIOError:
            return True
        return False


@contextmanager
def hung_broker() -> Iterator[HungBroker]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        broker = HungBroker(listener)
        yield broker
        for connection in broker.connections:
            connection.close()


def test_answers_do_not_wait_for_a_broker_that_hangs(sqlite_url: str, tmp_path: Path) -> None:
    with hung_broker() as broker, running_api(sqlite_url, broker.url, tmp_path) as service:
        dataset_id = service.upload()["id"]
        service.submit(dataset_id)
        assert broker.rung.wait(30)
        assert broker.is_waited_for()  # both were answered while the first ring still hangs
        assert service.client.get("/readyz").json()["broker"] == "unreachable"


def test_what_a_broker_refused_is_done_when_one_is_there(sqlite_url: str, tmp_path: Path) -> None:
    port = servers.free_port()
    url = f"redis://127.0.0.1:{port}/0"
    with running_api(sqlite_url, url, tmp_path, **SWEEPING) as service:
        job_id = service.submit(service.upload()["id"])
        ready = service.client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
        with servers.valkey(port), running_worker(service):
            assert service.final(job_id)["status"] == "succeeded"
