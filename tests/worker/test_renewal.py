"""While an upload is read its lease is renewed, whatever the reading waits for."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import select, update

from app.broker import make_celery
from app.datasets import reads
from app.datasets.models import Dataset
from app.settings import Settings
from tests.app.protocol import Protocol
from tests.servers import until
from worker.process import Process, StopFlag
from worker.renewal import Interrupted, Renewal

LEASE = timedelta(minutes=1)


def test_a_lease_is_renewed_while_nobody_calls_and_its_loss_is_heard(
    sqlite_url: str, tmp_path: Path
) -> None:
    protocol = Protocol(sqlite_url)
    dataset_id = protocol.dataset(columns=None)
    settings = Settings(database_url=sqlite_url, data_dir=tmp_path, heartbeat_seconds=0.01)
    process = Process(settings, make_celery("memory://"), StopFlag())
    with protocol.database.write() as session:
        claimed = reads.claim(session, dataset_id, "reader", LEASE)
    assert claimed is not None

    def lease() -> datetime | None:
        with protocol.database.read() as session:
            found = session.execute(select(Dataset.lease_until).where(Dataset.id == dataset_id))
            return found.scalar_one()

    first = lease()
    with Renewal(process, claimed[0]) as renewal:
        until(lambda: lease() != first)
        renewal.check()
        with protocol.database.write() as session, session.begin():
            session.execute(update(Dataset).values(owner="another"))
        until(lambda: _is_interrupted(renewal))
    process.close()
    protocol.database.dispose()


def _is_interrupted(renewal: Renewal) -> bool:
    try:
        renewal.check()
    except Interrupted:
        return True
    return False
