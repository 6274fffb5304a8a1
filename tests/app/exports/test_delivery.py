"""Results on their way out: whole or not at all, again and again, and never the job's fault."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.ipc
import pytest
from obstore.store import ObjectStore

from app.jobs import exports
from app.store.places import DATASETS
from tests.app.exports.conftest import SECRET, Outgoing, read_all
from tests.app.exports.fickle import Fickle
from tests.report.documents import HOSTILE, selection
from worker.exporter import LEASE

NAMES = ["result.json", "selected.parquet", "trace.parquet", "factors.arrow", "report.html"]
PLACES = {"connection": "lake", "path": "out/{name}/{job_id}/"}
EXPORTER = """
import sys
from app.broker import make_celery
from app.settings import get_settings
from worker.exporter import Exporter
from worker.process import Process, StopFlag
Exporter(Process(get_settings(), make_celery("memory://"), StopFlag())).serve(sys.argv[1])
"""


def check_manifest(files: dict[str, bytes], job_id: str) -> None:
    """A manifest that speaks of every file, and truly."""
    manifest = json.loads(files["manifest.json"])
    assert manifest["job_id"] == job_id
    assert [one["name"] for one in manifest["files"]] == NAMES
    assert files.keys() == {*NAMES, "manifest.json"}
    for one in manifest["files"]:
        content = files[one["name"]]
        assert (one["bytes"], one["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())


@pytest.mark.parametrize("connection", ["lake", "disk"])
def test_everything_is_there_once_the_manifest_is(
    outgoing: Outgoing, places: dict[str, ObjectStore], store_at: Fickle, connection: str
) -> None:
    destination = {**PLACES, "connection": connection}
    job_id = outgoing.finish(destination=destination, title="Churn: ../Q3 {name}")
    folder = f"out/Churn-..-Q3-name/{job_id}"
    waiting = outgoing.delivery(job_id)
    assert (waiting["status"], waiting["path"], waiting["n_written"]) == ("pending", folder, 0)
    version = outgoing.read(job_id).version
    assert outgoing.deliver() == 1
    done = outgoing.delivery(job_id)
    assert (done["status"], done["attempts"], done["error"]) == ("delivered", 1, None)
    assert (done["n_files"], done["n_written"]) == (len(NAMES), len(NAMES))
    assert outgoing.read(job_id).version > version
    files = read_all(places[connection], folder)
    check_manifest(files, job_id)
    check_contents(files)
    if connection == "lake":
        assert store_at.written() == [*NAMES, "manifest.json"]
    assert outgoing.deliver() == 0
    outgoing.export(job_id, **destination)
    assert outgoing.delivery(job_id)["status"] == "pending"
    assert outgoing.deliver() == 1
    assert read_all(places[connection], folder) == files


def check_contents(files: dict[str, bytes]) -> None:
    document, _ = selection()
    assert json.loads(files["result.json"]) == json.loads(json.dumps(document))
    selected = pl.read_parquet(io.BytesIO(files["selected.parquet"]))
    assert selected["name"].to_list() == [HOSTILE, "b"]
    assert selected["rank"].to_list() == [1, 2]
    assert selected["supported"].to_list() == [True, False]
    trace = pl.read_parquet(io.BytesIO(files["trace.parquet"]))
    told = document["held_out"]["information"]
    assert trace["k"].to_list() == list(range(max(3, len(told))))
    assert trace["held_out"].to_list()[: len(told)] == told
    assert trace["feature"].to_list()[:3] == [None, HOSTILE, "b"]
    factors = pyarrow.ipc.open_stream(files["factors.arrow"]).read_all()
    assert "c" in factors["variable"].to_pylist()
    assert files["report.html"].startswith(b"<!doctype html>")


def test_a_destination_that_fails_is_tried_again_by_itself(
    outgoing: Outgoing,
    places: dict[str, ObjectStore],
    store_at: Fickle,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    job_id = outgoing.finish(destination=PLACES)
    store_at.verdict = lambda method, path: 503
    assert outgoing.deliver() == 1
    away = outgoing.delivery(job_id)
    assert (away["status"], away["attempts"]) == ("pending", 1)
    assert away["error"] == "the destination did not answer as it should"
    assert outgoing.deliver() == 0  # not before its pause is over
    store_at.verdict = lambda method, path: None
    monkeypatch.setenv("TEST_LAKE_SECRET", "revoked-hush-hush")
    outgoing.let_pass(timedelta(hours=1))
    assert outgoing.deliver() == 1
    locked_out = outgoing.delivery(job_id)
    assert locked_out["attempts"] == 2
    assert locked_out["error"] == "the destination does not let the connection in"
    monkeypatch.delenv("TEST_LAKE_SECRET")
    outgoing.let_pass(timedelta(hours=1))
    assert outgoing.deliver() == 1
    assert outgoing.delivery(job_id)["error"] == "the connection cannot be used"
    assert read_all(places["lake"], "out") == {}
    monkeypatch.setenv("TEST_LAKE_SECRET", SECRET)
    outgoing.let_pass(timedelta(hours=1))
    assert outgoing.deliver() == 1
    done = outgoing.delivery(job_id)
    assert (done["status"], done["attempts"], done["error"]) == ("delivered", 4, None)
    check_manifest(read_all(places["lake"], "out"), job_id)
    said = "".join(capsys.readouterr())
    assert "result not delivered" in said
    assert "hush" not in said + str(outgoing.read(job_id))


def test_what_is_hopeless_is_given_up(outgoing: Outgoing, store_at: Fickle, tmp_path: Path) -> None:
    store_at.verdict = lambda method, path: 503
    job_id = outgoing.finish(destination=PLACES)
    outgoing.let_pass(timedelta(days=3))
    assert outgoing.deliver() == 1
    failed = outgoing.delivery(job_id)
    assert (failed["status"], failed["delivered_at"]) == ("failed", None)
    assert failed["error"].endswith("for 3 days")
    assert outgoing.deliver() == 0
    # The dataset of this job has no rows, which its reduced table would need.
    (tmp_path / DATASETS).mkdir()
    outgoing.export(job_id, connection="disk", path="out/x", data=True)
    assert outgoing.deliver() == 1
    gone = outgoing.delivery(job_id)
    assert gone["status"] == "failed"
    assert "not there any more" in gone["error"]
    assert not (tmp_path / "disk" / "out" / "x" / "manifest.json").exists()


def test_a_link_leads_nowhere_else(outgoing: Outgoing, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "disk" / "out").mkdir()
    (tmp_path / "disk" / "out" / "link").symlink_to(tmp_path / "elsewhere")
    job_id = outgoing.finish(destination={"connection": "disk", "path": "out/link/x"})
    assert outgoing.deliver() == 1
    assert "leads out of the connection" in outgoing.delivery(job_id)["error"]
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_a_worker_killed_before_the_manifest_leaves_none_and_another_goes_on(
    outgoing: Outgoing, places: dict[str, ObjectStore], store_at: Fickle
) -> None:
    job_id = outgoing.finish(destination=PLACES)
    process: list[subprocess.Popen[bytes]] = []

    def kill_before_manifest(method: str, path: str) -> int | None:
        if method == "PUT" and path.endswith("manifest.json"):
            process[0].send_signal(signal.SIGKILL)
            return 503
        return None

    store_at.verdict = kill_before_manifest
    settings = outgoing.settings
    env = {
        **os.environ,
        "PITH_DATABASE_URL": settings.database_url,
        "PITH_CONNECTIONS": str(settings.connections),
        "PITH_DATA_DIR": str(settings.data_dir),
    }
    process.append(subprocess.Popen([sys.executable, "-c", EXPORTER, job_id], env=env))
    assert process[0].wait(120) == -signal.SIGKILL
    left = read_all(places["lake"], "out")
    assert left.keys() == set(NAMES)
    assert outgoing.deliver() == 0  # the lease of the dead holds
    store_at.verdict = lambda method, path: None
    outgoing.lose()
    outgoing.let_pass(timedelta(0))
    assert outgoing.deliver() == 1
    assert outgoing.delivery(job_id)["attempts"] == 2
    files = read_all(places["lake"], "out")
    check_manifest(files, job_id)
    assert {name: files[name] for name in NAMES} == left


def test_whoever_was_taken_for_dead_changes_nothing(outgoing: Outgoing) -> None:
    """A job whose delivery was replaced, and a worker that comes back, and one told to stop."""
    job_id = outgoing.finish(destination=PLACES)
    args: Any = (job_id, "zombie", LEASE, outgoing.settings)
    with outgoing.database.write() as session:
        errand = exports.claim(session, *args)
    assert errand is not None
    outgoing.export(job_id, connection="disk", path="out/other/")
    with outgoing.database.write() as session:
        assert not exports.tell(session, errand, errand.delivery, LEASE)
        assert not exports.delivered(session, errand, errand.delivery)
        exports.put_off(session, errand, errand.delivery, "zombie", outgoing.settings)
        exports.hand_back(session, errand)
    shown = outgoing.delivery(job_id)
    assert (shown["status"], shown["path"], shown["error"]) == ("pending", "out/other", None)
    outgoing.exporter.stop()
    assert outgoing.deliver() == 1
    assert outgoing.delivery(job_id)["status"] == "pending"
    assert outgoing.deliver() == 1  # handed back, for another at once
