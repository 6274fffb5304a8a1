"""Every hostile file gets a sentence; the API stays small and the worker lives on."""

from __future__ import annotations

import re
from pathlib import Path

import psutil
import pytest

from app.datasets.faults import Rejected
from app.datasets.formats import CsvOptions, Format
from app.datasets.keys import COLUMNS
from app.datasets.limits import Limits
from app.datasets.tables import Source, ingest
from app.settings import Settings
from tests.app.running import Service, running_api, running_worker
from tests.worker.hostile import MAX_ROWS, Hostile, binaries, texts

ROOT = Path(__file__).parents[2]
GROWTH_BYTES = 64 << 20
DEFAULTS = Settings()
TEXT_LIMITS = Limits(
    memory_bytes=4 << 30,
    scratch_bytes=4 << 30,
    seconds=60,
    max_rows=MAX_ROWS,
    max_columns=DEFAULTS.max_columns,
    max_name_length=DEFAULTS.max_name_length,
    max_cell_bytes=DEFAULTS.max_cell_bytes,
)
LIMITS = {
    "PITH_MAX_ROWS": str(MAX_ROWS),
    "PITH_INGEST_MEMORY_BYTES": "4GiB",
    "PITH_INGEST_SECONDS": "60",
}


@pytest.mark.parametrize("file", texts(), ids=lambda file: file.name)
def test_texts(file: Hostile, tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(file.content)
    source = Source(tmp_path / "raw", Format.CSV, CsvOptions(), tmp_path)
    if file.reason is None:
        assert ingest(source, tmp_path / COLUMNS, TEXT_LIMITS)["n_rows"] > 0
        return
    with pytest.raises(Rejected) as rejected:
        ingest(source, tmp_path / COLUMNS, TEXT_LIMITS)
    check_sentence(file, str(rejected.value))


def test_binaries_are_read_by_a_worker_that_lives_on(
    sqlite_url: str, broker_url: str, tmp_path: Path
) -> None:
    with (
        running_api(sqlite_url, broker_url, tmp_path, **LIMITS) as service,
        running_worker(service) as worker,
    ):
        service.ready_dataset()
        api = psutil.Process(service.pid)
        before = api.memory_info().rss
        programs = psutil.Process(worker.pid).children()
        files = binaries()
        uploaded = [service.upload(f.content, f.media_type)["id"] for f in files]
        for file, dataset_id in zip(files, uploaded, strict=True):
            check(service, file, dataset_id)
        assert api.memory_info().rss < before + GROWTH_BYTES
        assert psutil.Process(worker.pid).children() == programs
        service.ready_dataset(b"next,y\n1,2\n2,3\n")


def check(service: Service, file: Hostile, dataset_id: str) -> None:
    path = f"/v1/datasets/{dataset_id}"
    dataset = service.until(path, lambda body: body["status"] != "processing")
    if file.reason is None:
        assert dataset["status"] == "ready", (file.name, dataset)
        return
    assert dataset["status"] == "rejected", (file.name, dataset)
    check_sentence(file, dataset["reason"])


def check_sentence(file: Hostile, reason: str) -> None:
    assert file.reason is not None
    assert file.reason in reason, file.name
    assert reason.isprintable(), file.name
    assert len(reason) < 500, file.name


# A file without a name that one process writes and reads; and a cluster, whose members run whatever
# they are sent, so that nobody else may reach it.
PICKLED = {ROOT / "core/blocks/scratch.py", ROOT / "app/cluster/engine.py"}


def test_nothing_that_came_from_elsewhere_is_ever_unpickled() -> None:
    sources = [p for room in ("app", "worker", "core") for p in (ROOT / room).rglob("*.py")]
    assert len(sources) > 100
    for source in sources:
        text = source.read_text()
        found = re.search(r"\b(pickle|dill|joblib|marshal|shelve)\b(?!=False)", text)
        assert (found is not None) == (source in PICKLED), source
        assert text.count("np.load(") == text.count(", allow_pickle=False) as file:"), source
