"""A file is refused for what its bytes hold, never for what befell whoever read it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pytest

from app.datasets import reads
from app.datasets.faults import OUT_OF_MEMORY, Passing
from app.datasets.formats import CsvOptions, Format
from app.datasets.keys import RAW, key_of
from app.datasets.models import Dataset
from app.datasets.tables import Source, ingest
from tests.app.protocol import LEASE, Protocol
from tests.app.running import Service, running_worker
from tests.worker.test_ingest import LIMITS
from tests.worker.test_reader import process_with
from worker.child import KILLED, _written, run_child

MANY_ROWS = b"a,b\n" + b"1,2\n" * 200_000


def child_of(process: psutil.Process) -> psutil.Process | None:
    for child in process.children(recursive=True):
        with suppress(psutil.Error):  # it ends meanwhile
            if "app.datasets.ingest" in child.cmdline():
                return child
    return None


def read_in_child(
    directory: Path, content: bytes, form: Format, on_child: Callable[[Any], None], **settings: Any
) -> dict[str, Any]:
    """Read in a process of its own; `on_child` is called with it while it runs."""
    process = process_with(directory, **settings)
    with process.store.put(key_of("default", "ds_1", RAW)) as file:
        file.write(content)
    (directory / "out").mkdir()
    row: Any = SimpleNamespace(id="ds_1", tenant="default", format=form, options={}, source=None)

    def beat() -> None:
        if (child := child_of(psutil.Process())) is not None:
            with suppress(psutil.Error):
                on_child(child)

    return run_child(process, row, directory / "out", beat)


def stream_of(values: Any, compression: str | None = None) -> bytes:
    table = pa.table({"a": values, "y": values})
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=1 << 20)
    return bytes(sink.getvalue())


def test_a_reader_that_is_killed_refuses_nothing(tmp_path: Path) -> None:
    outcome = read_in_child(tmp_path, MANY_ROWS, Format.CSV, psutil.Process.kill)
    assert outcome == {"failed": KILLED}


def test_a_reader_knows_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = secrets.token_hex()
    monkeypatch.setenv("PITH_DATABASE_URL", f"postgresql+psycopg://pith:{secret}@db/pith")
    seen: list[str] = []
    read_in_child(tmp_path, MANY_ROWS, Format.CSV, lambda child: seen.append(str(child.environ())))
    assert any("PATH" in environment for environment in seen)
    assert not any(secret in environment for environment in seen)


def test_what_a_reader_writes_is_limited(tmp_path: Path) -> None:
    noise = stream_of(np.random.default_rng(0).random(1_000_000))
    outcome = read_in_child(
        tmp_path, noise, Format.ARROW_STREAM, lambda _: None, ingest_scratch_bytes=1 << 20
    )
    assert outcome == {"rejected": "reading the file takes more than the 0.000977 GiB of disk"}


def test_a_small_stream_stays_small_on_the_disk(tmp_path: Path) -> None:
    bomb = stream_of(np.zeros(2_000_000), "zstd")
    assert len(bomb) < 200_000
    written: list[int] = []
    outcome = read_in_child(
        tmp_path,
        bomb,
        Format.ARROW_STREAM,
        lambda _: written.append(_written(tmp_path / "out")),
    )
    assert outcome["n_rows"] == 2_000_000
    assert max(written) < 20 << 20


def test_more_than_the_disk_has_is_not_the_files_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=4 << 20))
    noise = stream_of(np.random.default_rng(0).random(1_000_000))
    outcome = read_in_child(tmp_path, noise, Format.ARROW_STREAM, lambda _: None)
    assert outcome == {"failed": "there was no room on the disk to read the file"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk_is_not_the_files_fault(tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(b"a;b\n1,5;2\n2,5;3\n")
    source = Source(tmp_path / "raw", Format.CSV, CsvOptions(), tmp_path)
    with pytest.raises(Passing, match="no room on the disk"):
        ingest(source, Path("/dev/full"), replace(LIMITS, max_rows=10))


@pytest.mark.parametrize(
    ("words", "is_memory"),
    [
        ("memory allocation of 4294967296 bytes failed", True),
        ("pyarrow.lib.ArrowMemoryError: malloc of size 8 failed", True),
        ("thread '<unnamed>' panicked at alloc/src/raw_vec.rs:24:5: capacity overflow", False),
        ("Segmentation fault: this memory is not yours", False),
    ],
)
def test_only_known_last_words_mean_out_of_memory(words: str, is_memory: bool) -> None:
    assert (OUT_OF_MEMORY.search(words) is not None) == is_memory


def test_a_reason_holds_only_what_a_database_takes(database_url: str) -> None:
    protocol = Protocol(database_url)
    dataset_id = protocol.dataset(columns=None)
    with protocol.database.write() as session:
        claimed = reads.claim(session, dataset_id, "owner", LEASE)
        assert claimed is not None
        assert reads.reject(session, claimed[0], "no\0such\ud800 column\n")
        assert session.get_one(Dataset, dataset_id).reason == "no\ufffdsuch\ufffd column\ufffd"
    protocol.database.dispose()


def test_a_file_whose_reader_was_killed_is_read_in_the_end(service: Service) -> None:
    with running_worker(service, "killed") as worker:
        content = b"a,y\n" + b"1,2\n3,4\n" * 200_000
        dataset_id = service.upload(content)["id"]
        kill_first_reader(psutil.Process(worker.pid))
        path = f"/v1/datasets/{dataset_id}"
        dataset = service.until(path, lambda body: body["status"] != "processing")
        assert (dataset["status"], dataset["n_rows"]) == ("ready", 400_000)


def kill_first_reader(worker: psutil.Process) -> None:
    while (child := child_of(worker)) is None:
        assert worker.is_running()
    child.kill()


def test_a_rejected_file_is_read_again_when_it_comes_again(service: Service) -> None:
    with running_worker(service, "again"):
        first = service.upload(b"only\n1\n")
        path = f"/v1/datasets/{first['id']}"
        rejected = service.until(path, lambda body: body["status"] == "rejected")
        again = service.upload(b"only\n1\n")
        assert (again["id"], again["status"], again["reason"]) == (first["id"], "processing", None)
        after = service.until(path, lambda body: body["status"] == "rejected")
        assert after["reason"] == rejected["reason"]
