"""The process that reads a reference: what it may take, and what it is told of secrets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from app.references.source import Source
from tests import servers
from tests.references.misbehaving import Host, misbehaving
from tests.worker.test_reader import process_with
from worker.child import run_child
from worker.process import Process
from worker.renewal import Interrupted

CONNECTIONS = """
[web]
type = "https"
hosts = ["127.0.0.1:{http}"]
networks = ["127.0.0.0/8"]
plain = true
secrets.token = {{ env = "HUSH_WEB" }}
[warehouse]
type = "postgres"
url = "postgresql://postgres@127.0.0.1:{postgres}/postgres"
queries = true
secrets.password = {{ env = "HUSH_WAREHOUSE" }}
"""


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with misbehaving() as running:
        yield running


@pytest.fixture
def connections(
    tmp_path: Path, host: Host, postgres: servers.Postgres, monkeypatch: pytest.MonkeyPatch
) -> Path:
    for name in ("HUSH_WEB", "HUSH_WAREHOUSE", "PITH_DATABASE_PASSWORD", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, f"value of {name}")
    file = tmp_path / "connections.toml"
    file.write_text(CONNECTIONS.format(http=host.port, postgres=postgres.port))
    return file


def row(connection: str, **source: Any) -> Any:
    asked = Source(connection=connection, **source).model_dump(mode="json")
    return SimpleNamespace(id="ds_1", tenant="default", source=asked)


def run(process: Process, asked: Any, on_beat: Any = lambda: None) -> dict[str, Any]:
    directory = process.settings.data_dir / "out"
    directory.mkdir()
    return run_child(process, asked, directory, on_beat)


def test_one_secret_reaches_the_reader_and_by_stdin(
    connections: Path, host: Host, tmp_path: Path
) -> None:
    seen: list[tuple[str, str, str]] = []

    def look() -> None:
        if "/nothing.csv" not in host.asked:
            return
        mine = psutil.Process().children()
        (child,) = (one for one in mine if "app.references.child" in one.cmdline())
        order = Path(f"/proc/{child.pid}/fd/0").read_text()
        seen.append((str(child.environ()), str(child.cmdline()), order))
        raise Interrupted

    asked = row("web", path=f"http://127.0.0.1:{host.port}/nothing.csv")
    with pytest.raises(Interrupted):
        run(process_with(tmp_path, connections=connections), asked, look)
    ((environment, command, order),) = seen
    assert "value of" not in environment + command
    assert json.loads(order)["connection"]["secrets"] == {"token": "value of HUSH_WEB"}
    assert order.count("value of") == 1


def test_a_host_that_drips_meets_the_limit_of_time(
    connections: Path, host: Host, tmp_path: Path
) -> None:
    process = process_with(tmp_path, connections=connections, ingest_seconds=3)
    outcome = run(process, row("web", path=f"http://127.0.0.1:{host.port}/slowly.csv"))
    assert outcome["rejected"] == "reading the file takes longer than the 3 seconds allowed"


def test_a_query_meets_the_limit_of_bytes(connections: Path, tmp_path: Path) -> None:
    process = process_with(tmp_path, connections=connections, ingest_scratch_bytes=1 << 20)
    query = "SELECT i AS a, md5(i::text) AS b FROM generate_series(1, 400000) i"
    outcome = run(process, row("warehouse", query=query))
    assert outcome["rejected"] == "reading the file takes more than the 0.000977 GiB of disk"
