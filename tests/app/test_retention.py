"""What is old goes, what is used stays, and nothing is left without its row."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from app.audit import lines
from app.datasets import reads
from app.datasets.keys import RAW, key_of
from app.datasets.models import Dataset
from app.db.base import new_id
from app.db.clock import moment
from app.errors import Invalid
from app.jobs.models import Job
from app.settings import Settings
from app.store.local import LocalStore
from app.store.places import SCRATCH
from app.upkeep.retention import remove_old
from tests.app.protocol import TENANT, Protocol

AGO = timedelta(days=40)
N_RACES = 20


class Kept(Protocol):
    """A protocol with a store, and a clock that can be turned back."""

    def __init__(self, url: str, directory: Path) -> None:
        super().__init__(url)
        self.settings = Settings(database_url=url, data_dir=directory)
        self.store = LocalStore(directory / "datasets")

    def old_dataset(self) -> str:
        dataset_id = self.dataset()
        with self.store.put(key_of(TENANT, dataset_id, RAW)) as file:
            file.write(b"a,y\n")
        values = {"created_at": moment(-AGO), "finished_at": moment(-AGO)}
        with self.database.write() as session, session.begin():
            session.execute(update(Dataset).where(Dataset.id == dataset_id).values(values))
        return dataset_id

    def age(self, job_id: str) -> None:
        values = {"created_at": moment(-AGO), "finished_at": moment(-AGO)}
        with self.database.write() as session, session.begin():
            session.execute(update(Job).where(Job.id == job_id).values(values))

    def finished(self, dataset_id: str, key: str | None = None) -> str:
        job_id = self.submit(dataset_id, key)
        assert self.succeed(self.claimed(job_id))
        return job_id

    def remove_old(self) -> None:
        with self.database.write() as session:
            remove_old(session, self.store, self.settings)

    def has_dataset(self, dataset_id: str) -> bool:
        with self.database.write() as session:
            gone = reads.is_gone(session, dataset_id)
        assert gone != self.store.path(key_of(TENANT, dataset_id, RAW)).exists()
        return not gone

    def has_job(self, job_id: str) -> bool:
        with self.database.read() as session:
            return (
                session.execute(Job.__table__.select().where(Job.__table__.c.id == job_id)).first()
                is not None
            )


@pytest.fixture
def kept(database_url: str, tmp_path: Path) -> Iterator[Kept]:
    kept = Kept(database_url, tmp_path)
    yield kept
    kept.database.dispose()


def test_old_goes_and_used_stays(kept: Kept) -> None:
    unused, waited_for, used_lately, used_long_ago = (kept.old_dataset() for _ in range(4))
    live = kept.submit(waited_for)
    recent = kept.finished(used_lately)
    old = kept.finished(used_long_ago, key="once")
    kept.age(live)
    kept.age(old)
    kept.remove_old()
    assert [kept.has_job(job_id) for job_id in (live, recent, old)] == [True, True, False]
    left = [kept.has_dataset(d) for d in (unused, waited_for, used_lately, used_long_ago)]
    assert left == [False, True, True, False]
    assert kept.submit(used_lately, key="once") != old  # a key lives as long as its job
    with kept.database.read() as connection:
        found = lines.list_lines(connection, TENANT, lines.Wanted(), None, 100)
    gone = [line for line in found if line.action.endswith(".deleted")]
    assert {line.object_id for line in gone} == {old, unused, used_long_ago}
    assert {line.actor["kind"] for line in gone} == {"service"}


def test_files_of_nothing_go(kept: Kept, tmp_path: Path) -> None:
    known, fresh = kept.old_dataset(), new_id("ds")
    orphan, killed = new_id("ds"), tmp_path / SCRATCH / "tmp1"
    for dataset_id in (orphan, fresh):
        with kept.store.put(key_of(TENANT, dataset_id, RAW)) as file:
            file.write(b"left behind")
    (killed / "deeper").mkdir(parents=True)
    kept.submit(known)
    for path in (kept.store.path(key_of(TENANT, known)), kept.store.path(key_of(TENANT, orphan))):
        turn_back(path)
    turn_back(killed)
    kept.remove_old()
    assert not kept.store.path(key_of(TENANT, orphan)).exists()
    assert not killed.exists()
    assert kept.store.path(key_of(TENANT, fresh, RAW)).exists()
    assert kept.has_dataset(known)


def turn_back(folder: Path) -> None:
    long_ago = time.time() - AGO.total_seconds()
    for path in (folder, *folder.rglob("*")):
        os.utime(path, (long_ago, long_ago))


def test_a_submission_and_the_removal_of_its_dataset(kept: Kept) -> None:
    """Whoever comes first: a job that was accepted has its dataset."""
    for _ in range(N_RACES):
        dataset_id = kept.old_dataset()
        remover = threading.Thread(target=kept.remove_old)
        remover.start()
        try:
            job_id = kept.submit(dataset_id)
        except Invalid as error:
            job_id = None
            assert error.code == "unknown_dataset"
        remover.join()
        assert kept.has_dataset(dataset_id) == (job_id is not None)
