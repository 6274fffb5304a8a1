"""Bodies too long, too slow, too large for the disk, or sent while the database goes away."""

from __future__ import annotations

import resource
import select
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests import servers
from tests.app.running import CSV, Service, running_api

MIB = 1 << 20
WINDOW_SECONDS = 3.0
MIN_RATE = 1000
CSV_TYPE = {"Content-Type": "text/csv"}
UPLOAD = (
    b"POST /v1/datasets HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
SUBMISSION = (
    b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 100\r\n\r\n"
)


@pytest.fixture(scope="module")
def api(
    migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory, valkey: servers.Valkey
) -> Iterator[Service]:
    """An API without a worker, which soon loses patience."""
    data_dir = tmp_path_factory.mktemp("bodies")
    database = data_dir / "pith.db"
    database.write_bytes(migrated_sqlite.read_bytes())
    limits = {
        "PITH_UPLOAD_WINDOW_SECONDS": str(WINDOW_SECONDS),
        "PITH_UPLOAD_MIN_RATE": str(MIN_RATE),
        "PITH_MAX_UPLOAD_BYTES": "310MiB",
    }
    with running_api(f"sqlite:///{database}", valkey.url(4), data_dir, **limits) as service:
        yield service


def connect(service: Service) -> socket.socket:
    host, port = service.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=60)


def read_to_the_end(connection: socket.socket) -> bytes:
    """All that is said until the other side closes."""
    answer = b""
    while part := connection.recv(65_536):
        answer += part
    return answer


@pytest.mark.parametrize("said", [UPLOAD + b"4\r\na,b\n\r\n", SUBMISSION + b"{"])
def test_a_body_that_stops_coming_is_told_so(api: Service, said: bytes) -> None:
    with connect(api) as connection:
        connection.sendall(said)
        answer = read_to_the_end(connection)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"code":"too_slow"' in answer
    assert api.stored == []


# Rates far from the least one, whatever holds up this process or the API; test_pace is exact.
@pytest.mark.parametrize(
    ("share", "seconds", "status"), [(0.02, 60, b"408"), (10, 1.5 * WINDOW_SECONDS, b"201")]
)
def test_a_trickle_is_held_to_the_least_rate(
    api: Service, share: float, seconds: float, status: bytes
) -> None:
    with connect(api) as connection:
        connection.sendall(UPLOAD)
        trickle(connection, share * MIN_RATE, seconds)
        answer = connection.recv(65_536)
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert len(api.stored) == (status == b"201")
    for dataset in api.client.get("/v1/datasets").json()["items"]:
        api.client.delete(f"/v1/datasets/{dataset['id']}")


def trickle(connection: socket.socket, rate: float, seconds: float) -> None:
    """Send bytes at a rate that is kept on the whole, until there is an answer."""
    started, n_sent = time.monotonic(), 0
    while (elapsed := time.monotonic() - started) < seconds:
        if select.select([connection], [], [], 0.1)[0]:
            return
        n_due = int(rate * elapsed) - n_sent
        if n_due > 0:
            connection.sendall(b"%x\r\n%s\r\n" % (n_due, b"1" * n_due))
            n_sent += n_due
    connection.sendall(b"0\r\n\r\n")


def test_headers_that_stop_coming_end_the_connection(api: Service) -> None:
    with connect(api) as connection:
        connection.sendall(b"GET /livez HTTP/1.1\r\nHost: loc")
        assert read_to_the_end(connection) == b""


LINE = b"X-More: " + b"y" * 1000 + b"\r\n"
ENDLESS = {
    "headers": (b"GET /livez HTTP/1.1\r\nHost: localhost\r\n", LINE * 64, b"431"),
    "one header": (b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-More: ", b"y" * 65_536, b"431"),
    "an address": (b"GET /livez?", b"y" * 65_536, b"414"),
    "a trailer": (UPLOAD + b"4\r\na,b\n\r\n0\r\nX-More: ", b"y" * 65_536, b""),
}


@pytest.mark.parametrize("what", ENDLESS)
def test_heads_without_end_are_cut(api: Service, what: str) -> None:
    begin, block, status = ENDLESS[what]
    before = peak_memory(api)
    with connect(api) as connection:
        connection.sendall(begin)
        with pytest.raises(ConnectionError):
            for _ in range(1024):  # 64 MiB
                connection.sendall(block)
    assert peak_memory(api) < before + 16 * MIB
    with connect(api) as connection:
        connection.sendall(begin + block[: 40 << 10])
        answer = read_to_the_end(connection)
    assert answer.split(b" ")[1:2] == ([status] if status else answer.split(b" ")[1:2])
    assert api.stored == []


def test_many_small_headers_are_refused(api: Service) -> None:
    head = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n%s\r\n"
    with connect(api) as connection:
        connection.sendall(head % (b"A: b\r\n" * 101))
        answer = read_to_the_end(connection)
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b'"code": "head_too_large"' in answer
    with connect(api) as connection:
        connection.sendall(head % (b"A: b\r\n" * 90))
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")


def test_a_body_without_end_is_cut(api: Service) -> None:
    """The connection ends although the client would go on for ever."""
    block = b"100000\r\n" + b"1" * MIB + b"\r\n"
    with connect(api) as connection:
        connection.sendall(UPLOAD)
        with pytest.raises(ConnectionError):
            while True:
                connection.sendall(block)
    assert api.stored == []
    assert api.client.get("/livez").status_code == 200


def test_memory_does_not_grow_with_the_upload(api: Service) -> None:
    api.client.post("/v1/datasets", content=CSV, headers=CSV_TYPE)
    before = peak_memory(api)
    block = b"0123456,abcdefg\n" * (MIB // 16)
    body = (block for _ in range(300))
    answer = api.client.post("/v1/datasets", content=body, headers=CSV_TYPE)
    assert answer.json()["n_bytes"] == 300 * MIB
    assert peak_memory(api) < before + 48 * MIB
    for dataset in api.client.get("/v1/datasets").json()["items"]:
        api.client.delete(f"/v1/datasets/{dataset['id']}")


def peak_memory(service: Service) -> int:
    status = Path(f"/proc/{service.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line) * 1024


def test_a_full_disk_leaves_nothing_behind(api: Service) -> None:
    process = psutil.Process(api.pid)
    before = process.rlimit(resource.RLIMIT_FSIZE)
    process.rlimit(resource.RLIMIT_FSIZE, (16 * MIB, before[1]))
    try:
        answer = api.client.post("/v1/datasets", content=b"1,2\n" * 5 * MIB, headers=CSV_TYPE)
        ready = api.client.get("/readyz").json()
    finally:
        process.rlimit(resource.RLIMIT_FSIZE, before)
    assert (answer.status_code, answer.json()["code"]) == (507, "storage_full")
    assert (ready["status"], ready["storage"]) == ("degraded", "full")
    assert api.client.get("/readyz").json()["storage"] == "ok"
    assert api.stored == []
    api.upload()


def test_a_database_that_goes_away_leaves_bytes_for_the_sweep(
    postgres: servers.Postgres, migrated_postgres: str, valkey: servers.Valkey, tmp_path: Path
) -> None:
    name = postgres.create(template=migrated_postgres)
    with running_api(postgres.url(name), valkey.url(4), tmp_path) as service:
        service.upload()
        body = losing(postgres, name, service)
        # With a length, room is reserved before the first byte: only the row is left to be written.
        headers = {**CSV_TYPE, "Content-Length": "8"}
        answer = service.client.post("/v1/datasets", content=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
        # Whether the row was written cannot be known: its bytes stay, and are swept if it was not.
        assert [path.name for path in service.stored] == ["raw", "raw"]


def losing(postgres: servers.Postgres, name: str, service: Service) -> Iterator[bytes]:
    """A body, in the middle of which the database is gone."""
    yield b"a,b\n"
    servers.until(lambda: any(path.suffix == ".partial" for path in service.stored))
    postgres.drop(name)
    yield b"1,2\n"
