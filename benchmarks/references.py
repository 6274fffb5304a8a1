"""A large table by reference: bytes, memory and speed, beside obstore reading the same."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import obstore
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from obstore.store import S3Store

from app.references.buckets import Found
from app.references.fetching import bring
from app.store.files import Writing
from benchmarks.stage import Stage, stage, worker
from tests import servers

N_COLUMNS, N_ASKED = 64, 8
GROUP_ROWS = 1 << 16
KEY = "large.parquet"
MIB = 1 << 20
CHILD = "app.references.child"
FILE = """
[lake]
type = "s3"
url = "{url}"
endpoint = "{endpoint}"
secrets.access_key_id = {{ env = "AWS_ACCESS_KEY_ID" }}
secrets.secret_access_key = {{ env = "AWS_SECRET_ACCESS_KEY" }}
"""


@dataclass
class Measured:
    """What was seen of one table."""

    n_bytes: int
    obstore_rate: float = 0.0
    rate: float = 0.0
    share: float = 0.0
    seconds: float = 0.0
    api_growth: int = 0
    peaks: dict[str, int] = field(default_factory=lambda: {"api": 0, "reader": 0})


def measure(megabytes: int, rounds: int) -> Measured:
    """Write a table, read all of it twice over, and an eighth of its columns by the service."""
    with servers.s3() as server, _connected(server) as (scene, objects):
        _write(objects, megabytes)
        found = obstore.head(objects, KEY)
        measured = Measured(found["size"])
        size, named = found["size"], Found(KEY, found["size"], found["e_tag"], found["version"])
        ours, theirs = [], []
        for _ in range(rounds):
            theirs.append(_seconds(lambda: _stream(objects, scene.directory)))
            ours.append(_seconds(lambda: _bring(objects, named, scene.directory)))
        measured.obstore_rate, measured.rate = size / min(theirs) / MIB, size / min(ours) / MIB
        with worker(scene):
            _refer(scene, measured)
    return measured


@contextmanager
def _connected(server: servers.S3) -> Iterator[tuple[Stage, S3Store]]:
    url = server.url()
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(FILE.format(url=url, endpoint=server.env["AWS_ENDPOINT_URL"]))
        file.flush()
        with stage(**server.env, PITH_CONNECTIONS=file.name) as scene:
            yield scene, server.objects(url)


def _write(objects: S3Store, megabytes: int) -> None:
    rng = np.random.default_rng(0)
    names = [f"c{n}" for n in range(N_COLUMNS)]
    schema = pa.schema([(name, pa.float64()) for name in names])
    n_groups = max(1, megabytes * MIB // (8 * N_COLUMNS * GROUP_ROWS))
    with (
        obstore.open_writer(objects, KEY) as target,
        pq.ParquetWriter(Writing(target), schema, use_dictionary=False) as writer,
    ):
        for _ in range(n_groups):
            columns = [rng.random(GROUP_ROWS) for _ in names]
            writer.write_table(pa.table(columns, names), row_group_size=GROUP_ROWS)


def _seconds(act: Any) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def _stream(objects: S3Store, directory: Path) -> None:
    with tempfile.TemporaryFile(dir=directory) as file:
        for chunk in obstore.get(objects, KEY).stream(min_chunk_size=8 * MIB):
            file.write(chunk)


def _bring(objects: S3Store, found: Found, directory: Path) -> None:
    file = directory / "brought"
    bring(objects, found, file, [(0, found.size)], lambda _: None)
    file.unlink()


def _refer(scene: Stage, measured: Measured) -> None:
    asked = [f"c{n * N_COLUMNS // N_ASKED}" for n in range(N_ASKED)]
    source = {"connection": "lake", "path": KEY, "columns": asked}
    before = _memory(psutil.Process(scene.api.pid))
    started = time.perf_counter()
    answer = scene.client.post("/v1/datasets", json={"source": source})
    answer.raise_for_status()
    path = f"/v1/datasets/{answer.json()['id']}"
    while (dataset := scene.client.get(path).json())["status"] == "processing":
        _watch(scene, measured)
        time.sleep(0.05)
    if dataset["status"] != "ready":
        raise RuntimeError(dataset["reason"])
    measured.seconds = time.perf_counter() - started
    measured.share = dataset["n_bytes"] / measured.n_bytes
    measured.api_growth = measured.peaks["api"] - before


def _watch(scene: Stage, measured: Measured) -> None:
    readers = [p for p in psutil.Process().children(recursive=True) if _is_reader(p)]
    seen = {"api": _memory(psutil.Process(scene.api.pid))}
    seen["reader"] = max((_memory(reader) for reader in readers), default=0)
    for name, n_bytes in seen.items():
        measured.peaks[name] = max(measured.peaks[name], n_bytes)


def _is_reader(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return CHILD in process.cmdline()
    return False


def _memory(process: psutil.Process) -> int:
    with suppress(psutil.Error):
        return int(process.memory_info().rss)
    return 0
