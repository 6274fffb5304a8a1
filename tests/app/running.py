"""The service as real processes: uvicorn on a free port, a Celery worker with a stand-in engine."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy.orm import Session

from app.cli.commands import USUAL_SCOPES
from app.datasets.keys import RAW
from app.db.session import Database
from app.keys.scopes import Scope
from app.keys.secret import load_secret
from app.keys.service import create_key
from app.settings import Settings
from tests.servers import free_port, objects_at

START_SECONDS = 120
ANSWER_SECONDS = 2 * START_SECONDS
CSV = b"a,b,slow,y\n1,2.5,u,x\n2,NA,v,y\n3,1,u,x\n4,0.5,v,y\n"
LAST_LINES = 15
FINAL = {"succeeded", "failed", "cancelled", "expired"}


@dataclass(frozen=True)
class Service:
    """Where the API listens, and the environment that its workers need."""

    url: str
    client: httpx.Client
    env: dict[str, str]
    data_dir: Path
    pid: int

    def key(self, tenant: str, *scopes: Scope, secret: bytes = b"") -> str:
        """A new key, as `pith keys create` makes it."""
        with self.keys() as session:
            secret = secret or load_secret(Settings(data_dir=self.data_dir))
            token, _ = create_key(session, secret, tenant, scopes or USUAL_SCOPES, 1, "test")
        return token

    @contextmanager
    def keys(self) -> Iterator[Session]:
        """A way to the keys past the API."""
        database = Database(self.env["PITH_DATABASE_URL"], connections=0)
        with database.write() as session:
            yield session
        database.dispose()

    @property
    def stored(self) -> list[Path]:
        """The files of all uploads, whole or under way; some may vanish meanwhile."""
        if url := self.env.get("PITH_STORE_URL"):
            found = objects_at(url, self.env).list()
            files = [Path(one["path"]) for some in found for one in some]
        else:
            folders = os.walk(self.data_dir / "datasets")
            files = [Path(folder, name) for folder, _, names in folders for name in names]
        return sorted(file for file in files if file.name.startswith(RAW))

    def upload(self, content: bytes = CSV, media_type: str = "text/csv", **query: Any) -> Any:
        response = self.client.post(
            "/v1/datasets", content=content, headers={"content-type": media_type}, params=query
        )
        assert response.status_code in {200, 201}, response.text
        return response.json()

    def ready_dataset(self, content: bytes = CSV, **options: Any) -> str:
        dataset_id: str = self.upload(content, **options)["id"]
        dataset = self.until(
            f"/v1/datasets/{dataset_id}", lambda body: body["status"] != "processing"
        )
        assert dataset["status"] == "ready", dataset
        return dataset_id

    def submit(self, dataset_id: str, target: str = "y", **fields: Any) -> str:
        body = {"dataset_id": dataset_id, "target": target, **fields}
        response = self.client.post("/v1/jobs", json=body)
        assert response.status_code == 202, response.text
        job_id: str = response.json()["id"]
        return job_id

    def final(self, job_id: str) -> Any:
        return self.until(f"/v1/jobs/{job_id}", lambda body: body["status"] in FINAL)

    def until(self, path: str, reached: Callable[[Any], bool]) -> Any:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            body = self.client.get(path).json()
            if reached(body):
                return body
            time.sleep(0.1)
        raise AssertionError(f"{path} stayed {body}\n{self.last_words}")

    @property
    def last_words(self) -> str:
        """The ends of what API and workers wrote into their logs."""
        logs = sorted(self.data_dir.glob("*.log"))
        ends = ((log.name, log.read_text().splitlines()[-LAST_LINES:]) for log in logs)
        return "\n".join(f"{name}: {line}" for name, lines in ends for line in lines)


@contextmanager
def running_api(
    database_url: str, broker_url: str, data_dir: Path, **env: str
) -> Iterator[Service]:
    """`pith serve`, on a free port unless the environment names one."""
    port = env.get("PITH_PORT") or free_port()
    full = {
        **os.environ,
        "PITH_DATABASE_URL": database_url,
        "PITH_BROKER_URL": broker_url,
        "PITH_DATA_DIR": str(data_dir),
        "PITH_PORT": str(port),
        "PITH_LOG_FORMAT": "json",
        **env,
    }
    url = f"http://127.0.0.1:{port}"
    with (
        _process([sys.executable, "-m", "app", "serve"], full, data_dir / "api.log") as process,
        httpx.Client(base_url=url, timeout=ANSWER_SECONDS) as client,
    ):
        _wait_for(client, process)
        yield Service(url, client, full, data_dir, process.pid)


@contextmanager
def running_worker(
    service: Service, name: str = "worker", program: str = "tests.worker.fake_worker"
) -> Iterator[subprocess.Popen[bytes]]:
    """A worker, with the stand-in engine unless another program is named."""
    command = [sys.executable, "-m", program]
    with _process(command, service.env, service.data_dir / f"{name}.log") as process:
        yield process


@contextmanager
def _process(
    command: list[str], env: dict[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("ab") as output:
        process = subprocess.Popen(command, env=env, stdout=output, stderr=output)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(client: httpx.Client, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, "the API ended"
        try:
            client.get("/livez")
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the API did not start")
