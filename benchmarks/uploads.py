"""One file to the service, and the same file through a bare socket to disk."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

CHUNK = 1 << 20


def upload(source: Path, port: int) -> tuple[float, str]:
    """Seconds until the service has answered, and the id of the dataset."""
    headers = (
        f"POST /v1/datasets HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/csv\r\n"
        f"Content-Length: {source.stat().st_size}\r\nConnection: close\r\n\r\n"
    )
    started = time.perf_counter()
    answer = _send(source, port, headers.encode())
    seconds = time.perf_counter() - started
    head, _, body = answer.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 20"):
        raise RuntimeError(f"the upload failed: {answer[:500]!r}")
    return seconds, json.loads(body)["id"]


def copy_through_socket(source: Path, target: Path) -> float:
    """Seconds until another process has the file on disk and has said so."""
    command = [sys.executable, "-m", "benchmarks.uploads", str(target)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as receiver:
        assert receiver.stdout is not None
        port = int(receiver.stdout.readline())
        started = time.perf_counter()
        answer = _send(source, port, b"")
        seconds = time.perf_counter() - started
    if answer != b"done":
        raise RuntimeError("the copy failed")
    target.unlink()
    return seconds


def _send(source: Path, port: int, headers: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port)) as connection, source.open("rb") as file:
        connection.sendall(headers)
        connection.sendfile(file)
        if not headers:  # the only way to say where a bare stream ends
            connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(CHUNK), b""))


def _receive(target: Path) -> None:
    """Write what comes, and synchronise the disk at the end as the service does."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(server.getsockname()[1], flush=True)
        connection, _ = server.accept()
    buffer = memoryview(bytearray(CHUNK))
    with connection, target.open("wb") as file:
        while n_bytes := connection.recv_into(buffer):
            file.write(buffer[:n_bytes])
        file.flush()
        os.fsync(file.fileno())
        connection.sendall(b"done")


if __name__ == "__main__":
    _receive(Path(sys.argv[1]))
