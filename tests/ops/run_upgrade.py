"""The version before this one, from the history, on the schema of this one: `make test-upgrade`.

Its API and its worker serve beside ours, on one database, one broker and one store, as they do in
the middle of a rolling upgrade; packages are those of this environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path

import httpx
import pytest

from tests import servers
from tests.app.conftest import SETTINGS, write_connections
from tests.app.running import CSV, Service, running_api, running_worker
from tests.receivers import Receiver, receiver
from tests.servers import until

ROOT = Path(__file__).parents[2]


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True).stdout


def brought_by(file: Path) -> str:
    """The first commit that has it."""
    where = str(file.relative_to(ROOT))
    return git("log", "--diff-filter=A", "--format=%H", "--", where).decode().split()[-1]


@pytest.fixture(scope="session")
def older(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What makes a process run the code that came with the schema before this one.

    The commit before the newest migration may be half of a change; one that brought a migration
    is whole.
    """
    if git("rev-parse", "--is-shallow-repository").strip() == b"true":
        pytest.skip("a shallow clone has no version before this one")
    migrations = sorted((ROOT / "migrations" / "versions").glob("0*.py"))
    brought = [brought_by(migration) for migration in migrations]
    before = [commit for commit in brought if commit != brought[-1]]
    directory = tmp_path_factory.mktemp("older")
    with tarfile.open(fileobj=BytesIO(git("archive", before[-1]))) as archive:
        archive.extractall(directory, filter="data")
    assert not (directory / migrations[-1].relative_to(ROOT)).exists()
    env = {"PYTHONPATH": str(directory), "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-c", "import app, migrations; print(app.__file__)"]
    said = subprocess.run(command, env={**os.environ, **env}, check=True, capture_output=True)
    assert said.stdout.decode().startswith(str(directory))
    return env


@pytest.fixture(params=["postgres", "sqlite"])
def both(
    request: pytest.FixtureRequest, older: dict[str, str], valkey: servers.Valkey, tmp_path: Path
) -> Iterator[tuple[Service, Service]]:
    """An API of this version and one of that before, on a schema that this one made."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    settings = {**SETTINGS, "PITH_CONNECTIONS": str(write_connections(tmp_path))}
    with (
        running_api(url, valkey.url(6), tmp_path, **settings) as new,
        running_api(url, valkey.url(6), tmp_path, **settings, **older) as old,
    ):
        yield new, old


@pytest.fixture
def told() -> Iterator[Receiver]:
    with receiver() as state:
        yield state


def test_both_versions_serve_each_others_callers(
    both: tuple[Service, Service], told: Receiver
) -> None:
    new, old = both
    for service in both:
        assert service.client.get("/readyz").json()["database"] == "ok"
    secret = new.client.post("/v1/webhooks", json={"url": told.url}).json()["secret"]
    sent: list[str] = []
    for turn, working in enumerate(((old,), (new,), both)):
        with ExitStack() as stack:
            for n, service in enumerate(working):
                stack.enter_context(running_worker(service, f"worker-{turn}-{n}"))
            sent += [take_turns(one, other, turn) for one, other in ((new, old), (old, new))]
            until_told(told, secret, sent)
    listed = [one.client.get("/v1/jobs", params={"page_size": 100}).json()["items"] for one in both]
    assert [job["id"] for job in listed[0]] == [job["id"] for job in listed[1]]


def until_told(told: Receiver, secret: str, jobs: list[str]) -> None:
    until(lambda: set(jobs) <= {event["subject"] for event in told.events(secret)})


def take_turns(one: Service, other: Service, turn: int) -> str:
    """Upload and submit by one version, watch, change and read by the other."""
    content = CSV + b"5,3,u,x\n" * (turn + 1 if one.pid < other.pid else turn + 9)
    dataset_id = one.ready_dataset(content)
    cancelled = one.submit(dataset_id, target="slow")
    other.client.post(f"/v1/jobs/{cancelled}/cancel").raise_for_status()
    assert other.final(cancelled)["status"] == "cancelled"
    job_id = one.submit(dataset_id, k=1, labels={"turn": str(turn)})
    final = other.final(job_id)
    assert (final["status"], final["error"]) == ("succeeded", None)
    for path in ("result", "events", "factors"):
        answers = [reader.client.get(f"/v1/jobs/{job_id}/{path}") for reader in (one, other)]
        assert [answer.status_code for answer in answers] == [200, 200]
    renamed: httpx.Response = other.client.patch(f"/v1/jobs/{job_id}", json={"title": "seen"})
    assert renamed.status_code == 200, renamed.text
    assert one.client.get(f"/v1/jobs/{job_id}").json()["title"] == "seen"
    return job_id
