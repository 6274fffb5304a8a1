"""Every command of the container files, run for real: Postgres, Redis, our own, health checks."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from distributed.cli import dask_scheduler, dask_worker

from app.processes import kernels
from app.processes.embedded.valkey import _program
from app.processes.lifeline import die_with_parent
from app.settings import Settings
from tests import servers
from tests.e2e.embedded import serving
from tests.ops import containers

ROOT = containers.ROOT
SERVICES = containers.compose()
OURS = ("migrate", "api", "jobs", "reads")
PYTHON_BYTES = 400 << 20  # of a program of ours that does nothing

REDIS_CLI = f"""#!{sys.executable}
import os, sys, redis
client = redis.Redis(port=int(os.environ["REDIS_PORT"]), password=os.environ["REDISCLI_AUTH"])
print(client.execute_command(*sys.argv[1:]))
"""


@pytest.mark.parametrize("name", SERVICES)
def test_no_service_is_root_or_without_limits(name: str) -> None:
    service = SERVICES[name]
    assert service["user"] not in ("", "0", "root")
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert int(service["mem_limit"]) > 0
    assert service.get("cpus", 0) <= 1  # an engine refuses more than the machine has
    assert service.get("cpus") or service["cpu_shares"]
    assert service["pids_limit"] > 0
    assert "healthcheck" in service or service["restart"].startswith("on-failure")


def test_the_image_is_not_root_and_holds_no_build_tools() -> None:
    build, final = containers.stages()
    assert ("USER", "10001:10001") in final
    assert [name for name, _ in final].count("RUN") == 0
    assert [name for name, _ in build].count("RUN") > 0


def test_the_image_is_built_with_bytecode() -> None:
    """Its user owns no place to put it later."""
    settings = [arguments for name, arguments in containers.stages()[0] if name == "ENV"]
    assert "UV_COMPILE_BYTECODE=1" in " ".join(settings).split()


def settings_of(name: str) -> Settings:
    variables = SERVICES[name]["environment"]
    chosen = {key.removeprefix("PITH_").lower(): value for key, value in variables.items()}
    return Settings(**chosen)


def test_what_runs_in_a_container_fits_into_it() -> None:
    jobs, reads = settings_of("jobs"), settings_of("reads")
    # The program, and for each job a process of its own.
    needed = PYTHON_BYTES + jobs.worker_concurrency * (PYTHON_BYTES + jobs.worker_max_memory_bytes)
    assert needed <= int(SERVICES["jobs"]["mem_limit"])
    needed = PYTHON_BYTES + reads.worker_readers * reads.ingest_memory_bytes
    assert needed <= int(SERVICES["reads"]["mem_limit"])
    assert reads.ingest_memory_bytes < Settings().ingest_memory_bytes


def test_kernels_of_the_image_are_behind_no_volume() -> None:
    build, final = (
        [a for n, a in stage if n == "ENV"][-1].split() for stage in containers.stages()
    )
    shipped = "NUMBA_CACHE_DIR=/opt/pith/kernels"
    assert shipped in build
    assert shipped in final
    mounts = {
        mount["target"] for service in SERVICES.values() for mount in service.get("volumes", [])
    }
    assert not any("/opt/pith/kernels".startswith(target) for target in mounts)
    (kernel_dir,) = (
        word.partition("=")[2] for word in final if word.startswith("PITH_KERNEL_DIR=")
    )
    assert kernel_dir in mounts


def test_a_later_image_brings_its_own_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    volume = tmp_path / "volume"
    for number in (1, 2):
        shipped = tmp_path / f"image{number}"
        shipped.mkdir()
        (shipped / "kernel.nbi").write_text(f"compiled by {number}")
        monkeypatch.setattr(kernels, "engine_key", lambda number=number: f"engine{number}")
        folder = kernels.prepare(volume, shipped)
        assert (folder / "kernel.nbi").read_text() == f"compiled by {number}"
        (folder / "of_this_cpu.nbi").touch()
        assert kernels.prepare(volume, shipped) == folder
        assert (folder / "of_this_cpu.nbi").exists()
    assert sorted(path.name for path in volume.iterdir()) == ["engine1", "engine2"]


def test_passwords_have_no_default() -> None:
    done = containers.docker_compose("config", env={})
    assert done.returncode != 0
    assert b"PASSWORD" in done.stderr


def test_the_cluster_is_asked_for_and_its_commands_are_understood() -> None:
    programs = {"scheduler": dask_scheduler.main, "cluster": dask_worker.main}
    services = containers.compose("--profile", "cluster")
    assert services.keys() - SERVICES.keys() == programs.keys()
    for name, program in programs.items():
        service = services[name]
        assert (service["profiles"], service["entrypoint"]) == (["cluster"], ["dask"])
        command, *options = service["command"]
        with program.make_context(
            command, list(options)
        ) as context:  # what it does not know raises
            assert context.params["dashboard"] is False
    assert "ports" not in services["scheduler"]  # whoever reaches it runs what he likes
    assert services["cluster"]["command"][1] == "tcp://scheduler:8786"


def test_containers_with_a_bucket_share_no_volume() -> None:
    services = containers.compose_on_s3()
    assert "s3" not in SERVICES
    ours = {name: services[name] for name in ("api", "jobs", "reads")}
    for name, service in ours.items():
        assert service["deploy"]["replicas"] == 2, name
        assert {volume.get("source") for volume in service["volumes"]} == {None}, name
        assert "tmpfs" in service
        assert service["environment"]["PITH_STORE_URL"] == "s3://pith/datasets"
        assert service["environment"]["PITH_DATABASE_URL"]
        assert service["depends_on"].keys() >= {"s3", "migrate"}
    secrets = {
        one["environment"]["AWS_SECRET_ACCESS_KEY"] for one in (*ours.values(), services["s3"])
    }
    assert secrets == {containers.PASSWORDS["S3_SECRET"]}


def test_a_cluster_reads_a_bucket_by_itself() -> None:
    service = containers.compose_on_s3("--profile", "cluster")["cluster"]
    jobs = containers.compose_on_s3()["jobs"]["environment"]
    access = {name: value for name, value in jobs.items() if name.startswith("AWS_")}
    assert access["AWS_SECRET_ACCESS_KEY"] == containers.PASSWORDS["S3_SECRET"]
    assert access.items() <= service["environment"].items()
    assert not any(name.startswith("PITH_DATABASE") for name in service["environment"])
    assert service["depends_on"].keys() == {"s3", "scheduler"}
    mounts = {mount["target"]: mount for mount in service["volumes"]}
    assert mounts.keys() == {data_dir(), "/var/cache/pith"}
    assert not any(mount.get("read_only") or mount.get("source") for mount in mounts.values())


def data_dir() -> str:
    """Where a program of the image has its scratch."""
    variables = [a for n, a in containers.stages()[1] if n == "ENV"][-1].split()
    (found,) = (v.partition("=")[2] for v in variables if v.startswith("PITH_DATA_DIR="))
    return found


class Place:
    """This machine in the part of the containers' network."""

    def __init__(self, directory: Path, database: servers.Postgres) -> None:
        self.directory = directory
        self.database = database
        self.redis_port = servers.free_port()
        self.api_port = servers.free_port()
        self.programs = directory / "bin"
        self.programs.mkdir()
        self._program("redis-cli", REDIS_CLI)
        options = f"--port {self.redis_port} --bind 127.0.0.1 --dir {directory}"
        self._program("redis-server", f'#!/bin/sh\nexec {_program()} "$@" {options}\n')

    def _program(self, name: str, text: str) -> None:
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)

    def environment(self, name: str) -> dict[str, str]:
        """The service's variables, with the addresses as they are here."""
        path = [self.programs, Path(sys.executable).parent, self.database.binaries]
        variables = {key: self.here(value) for key, value in SERVICES[name]["environment"].items()}
        return {
            "PATH": ":".join([*map(str, path), os.environ["PATH"]]),
            "PITH_DATA_DIR": str(self.directory / "datasets"),
            "PITH_HOST": "0.0.0.0",
            "PITH_PORT": str(self.api_port),
            "PGPORT": str(self.database.port),
            "REDIS_PORT": str(self.redis_port),
            **variables,
        }

    def here(self, text: str) -> str:
        places = {
            "postgres:5432": f"127.0.0.1:{self.database.port}",
            "redis:6379": f"127.0.0.1:{self.redis_port}",
            "127.0.0.1:8000": f"127.0.0.1:{self.api_port}",
            "$$": "$",
        }
        for there, here in places.items():
            text = text.replace(there, here)
        return text

    def command(self, name: str) -> list[str]:
        entrypoint = ["pith"] if name in OURS else []
        return [*entrypoint, *map(self.here, SERVICES[name]["command"])]

    def key(self) -> str:
        """As the guide says: `docker compose exec api pith keys create`."""
        command = ["pith", "keys", "create", "--json"]
        done = subprocess.run(command, env=self.environment("api"), check=True, capture_output=True)
        key: str = json.loads(done.stdout)["key"]
        return key

    @contextmanager
    def running(self, name: str) -> Iterator[subprocess.Popen[bytes]]:
        process = subprocess.Popen(
            self.command(name),
            env=self.environment(name),
            cwd=self.directory,
            preexec_fn=die_with_parent,  # noqa: PLW1509  forked from the only thread there is
        )
        try:
            yield process
        finally:
            process.terminate()
            # uvicorn ends by the signal that it was sent, after it has closed everything.
            assert process.wait(60) in (0, -signal.SIGTERM)

    def is_healthy(self, name: str, process: subprocess.Popen[bytes] | None = None) -> bool:
        kind, *test = map(self.here, SERVICES[name]["healthcheck"]["test"])
        if process is not None:
            test = [
                re.sub(r"/proc/1/task/1/", f"/proc/{process.pid}/task/{process.pid}/", part)
                for part in test
            ]
        command = ["sh", "-c", *test] if kind == "CMD-SHELL" else test
        done = subprocess.run(command, env=self.environment(name), check=False, capture_output=True)
        return done.returncode == 0

    def until_healthy(self, name: str, process: subprocess.Popen[bytes] | None = None) -> None:
        deadline = time.monotonic() + 120
        while not self.is_healthy(name, process):
            assert time.monotonic() < deadline, name
            assert process is None or process.poll() is None, name
            time.sleep(0.2)


@pytest.fixture
def place(tmp_path: Path, postgres: servers.Postgres) -> Place:
    return Place(tmp_path, postgres)


@pytest.fixture
def role(postgres: servers.Postgres) -> Iterator[None]:
    """What the Postgres image does at its first start: run the mounted script by psql."""
    address = ["-h", "127.0.0.1", "-p", str(postgres.port), "-U", "postgres"]
    subprocess.run(
        [postgres.binaries / "psql", "--no-psqlrc", "-v", "ON_ERROR_STOP=1", *address],
        env={**os.environ, **SERVICES["postgres"]["environment"]},
        input=containers.config("role").encode(),
        check=True,
    )
    yield
    with postgres.connect() as connection:
        connection.execute("DROP DATABASE pith WITH (FORCE)")
        connection.execute("DROP ROLE pith")


@pytest.mark.usefixtures("role")
def test_the_deployed_service_runs_a_job(place: Place) -> None:
    place.until_healthy("postgres")
    with ExitStack() as stack:
        redis = stack.enter_context(place.running("redis"))
        place.until_healthy("redis", redis)
        migration = subprocess.run(
            place.command("migrate"), env=place.environment("migrate"), check=False
        )
        assert migration.returncode == 0
        api = stack.enter_context(place.running("api"))
        jobs = stack.enter_context(place.running("jobs"))
        reads = stack.enter_context(place.running("reads"))
        place.until_healthy("api", api)
        place.until_healthy("jobs", jobs)
        place.until_healthy("reads", reads)
        address = f"http://127.0.0.1:{place.api_port}"
        assert httpx.get(f"{address}/v1/jobs").status_code == 401
        assert run_job(address, place.key())["status"] == "succeeded"
    assert not place.is_healthy("api")


def run_job(address: str, key: str | None = None) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
        body = (ROOT / "examples" / "wine.csv").read_bytes()
        dataset = client.post("/v1/datasets", content=body, headers={"Content-Type": "text/csv"})
        order = {
            "dataset_id": dataset.json()["id"],
            "target": "cultivar",
            "k": 2,
            "method": {"name": "mrmr"},
        }
        job: dict[str, Any] = client.post("/v1/jobs", json=order).json()
        while job["status"] in ("queued", "running"):
            job = client.get(f"/v1/jobs/{job['id']}", headers={"Prefer": "wait=10"}).json()
        return job


@pytest.mark.image
def test_the_image_builds(tmp_path: Path) -> None:
    """The build stage's commands in their order, on a copy of what the build would see.

    What comes out has the runtime's packages and no others: enough for the whole service.
    """
    source = tmp_path / "src"
    _copy_context(source)
    for name, arguments in containers.stages()[0]:
        if name == "RUN":
            here = arguments.replace("/opt/", f"{tmp_path}/opt/").replace(
                "/var/", f"{tmp_path}/var/"
            )
            _run(here, source, {"NUMBA_CACHE_DIR": f"{tmp_path}/opt/pith/kernels"})
    _copy_as_layers_do(tmp_path / "opt")
    shipped = _times_of_kernels(tmp_path / "opt" / "pith" / "kernels")
    assert shipped
    program, volume = tmp_path / "opt" / "pith" / "bin" / "pith", tmp_path / "var" / "cache"
    with serving(tmp_path / "data", program=program, PITH_KERNEL_DIR=str(volume)) as service:
        assert run_job(service.address)["status"] == "succeeded"
    (folder,) = (path for path in volume.iterdir() if path.name != "pith")
    assert _times_of_kernels(folder) == shipped  # none was compiled again


def _times_of_kernels(folder: Path) -> dict[Path, int]:
    return {p.relative_to(folder): p.stat().st_mtime_ns for p in folder.rglob("*.nb?")}


def _copy_as_layers_do(directory: Path) -> None:
    """The next stage has the files with their times cut to whole seconds."""
    for path in directory.glob("*/lib/*/site-packages/core/**/*.py"):
        os.utime(path, (int(path.stat().st_mtime),) * 2)


def _copy_context(target: Path) -> None:
    allowed = re.findall(r"^!(\S+)", (ROOT / ".dockerignore").read_text(), re.M)
    target.mkdir()
    for name in allowed:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(ROOT / name, target / name)


def _run(command: str, directory: Path, variables: Mapping[str, str]) -> None:
    shell = json.loads(dict(containers.dockerfile())["SHELL"])
    done = subprocess.run(
        [*shell, command],
        cwd=directory,
        env={**os.environ, **variables},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
