"""Keys against the real service: a wrong, a revoked and a missing one are told in a sentence."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.db.base import new_id
from app.keys import service as keys
from app.keys.scopes import Scope
from app.keys.token import id_of, new_token
from pith_client import AsyncPith, Pith, Unauthorized
from tests import servers
from tests.app.running import CSV, Service, running_api, running_worker

ASKED = r"send a key of this service as Authorization: Bearer pith_\.\.\."
LARGE = 16 << 20


@pytest.fixture(scope="module")
def guarded(
    valkey: servers.Valkey, migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """A service that asks for keys."""
    data_dir = tmp_path_factory.mktemp("guarded")
    url = f"sqlite:///{shutil.copy(migrated_sqlite, data_dir / 'pith.db')}"
    with (
        running_api(url, valkey.url(4), data_dir, PITH_REQUIRE_KEYS="true") as service,
        running_worker(service),
    ):
        yield service


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_bytes(CSV)
    return path


@pytest.mark.parametrize(
    ("key", "code", "sentence"),
    [
        (None, "key_required", ASKED),
        ("pith_mistyped", "key_invalid", "this is no key of this service; it may be mistyped"),
        (new_token(), "key_invalid", "this service knows no such key"),
    ],
    ids=["missing", "mistyped", "unknown"],
)
def test_who_has_no_key_is_told_at_once(
    guarded: Service, table: Path, key: str | None, code: str, sentence: str
) -> None:
    with (
        Pith(guarded.url, key) as pith,
        pytest.raises(Unauthorized, match=rf"^{sentence} \[{code}\]$") as error,
    ):
        pith.select(table, "y")
    assert (error.value.status, error.value.code) == (401, code)


def test_a_large_upload_is_refused_with_the_same_sentence(guarded: Service, tmp_path: Path) -> None:
    """The service does not read the body of a stranger, and says so before it was sent."""
    path = tmp_path / "large.csv"
    path.write_bytes(b"a,y\n" + b"1,2\n" * (LARGE // 4))
    columns = np.zeros((LARGE // 16, 2))
    with Pith(guarded.url, new_token()) as pith:
        for large in (path, columns):
            with pytest.raises(Unauthorized, match="knows no such key"):
                pith.upload(large, names=["a", "y"] if large is columns else None)


def test_the_awaited_client_is_told_the_same(guarded: Service, table: Path) -> None:
    async def select() -> None:
        async with AsyncPith(guarded.url) as pith:
            await pith.select(table, "y")

    with pytest.raises(Unauthorized, match=ASKED):
        asyncio.run(select())


def test_a_key_that_is_revoked_ends_the_wait(guarded: Service, table: Path) -> None:
    token = guarded.key(new_id("t"))

    def revoke(_: object) -> None:
        with guarded.keys() as session:
            keys.revoke_key(session, id_of(token) or "")

    with Pith(guarded.url, token) as pith:
        assert pith.select(table, "y", k=1).names == ["a"]
        with pytest.raises(Unauthorized, match=f"the key {id_of(token)} was revoked") as error:
            pith.select(table, "slow", progress=revoke)
    assert error.value.code == "key_invalid"


def test_a_key_that_may_only_read_is_told_what_it_lacks(guarded: Service, table: Path) -> None:
    with Pith(guarded.url, guarded.key(new_id("t"), Scope.READ)) as pith:
        assert list(pith.jobs()) == []
        with pytest.raises(Unauthorized, match="this key lacks the scope write") as error:
            pith.upload(table)
    assert (error.value.status, error.value.code) == (403, "scope_missing")


def test_who_did_what_and_with_which_key(guarded: Service, table: Path) -> None:
    token = guarded.key(new_id("t"), *Scope)
    with Pith(guarded.url, token) as pith:
        dataset = pith.upload(table)
        made = pith.create_key("nightly", scopes=["read", "write"], days=2)
        with Pith(guarded.url, made.key) as nightly:
            job = nightly.submit(dataset.id, "y", k=1)
        pith.revoke_key(made.id)
        listed = pith.keys()
        keys_there = {key.id: key for key in listed}
        assert keys_there[made.id].revoked_at is not None
        assert keys_there[made.id].key is None
        (line,) = pith.audit(object_id=job.id, action="job.submitted")
        assert (line.actor.kind, line.actor.id, line.actor.name) == ("key", made.id, "nightly")
        assert (line.address, line.object_id) == ("127.0.0.1", job.id)
        assert [one.submitted_by for one in pith.jobs()] == [line.actor]
        assert dataset.submitted_by is not None
        assert dataset.submitted_by.id == id_of(token)
        acts = [line.action for line in pith.audit(page_size=2)]
        assert acts == ["key.revoked", "job.submitted", "key.created", "dataset.created", acts[-1]]
        assert list(pith.audit(created_after=line.created_at, action="job.submitted")) == []
