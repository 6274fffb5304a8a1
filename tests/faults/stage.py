"""Postgres, Redis, the API and some workers as processes, and every way to harm them."""

from __future__ import annotations

import heapq
import itertools
import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil

from app.db.migrate import upgrade
from app.processes.lifeline import spawn
from tests import servers
from tests.faults.bucket import Bucket, bucket_on_s3
from tests.faults.family import belongs, family, make_room, pool, send
from tests.faults.plan import Fault, Kind
from tests.faults.preparing import compile_kernels, make_key
from tests.faults.proxy import Proxy, proxy

LEASE_SECONDS = 3.0
# Quick to notice and to try again, so that a minute holds many faults.
SETTINGS = {
    "PITH_LEASE_SECONDS": str(LEASE_SECONDS),
    "PITH_HEARTBEAT_SECONDS": "0.5",
    "PITH_SWEEP_SECONDS": "0.5",
    "PITH_RESEND_SECONDS": "2",
    "PITH_BACKOFF_SECONDS": "0.2",
    "PITH_WORKER_THREADS": "1",
    "PITH_DATABASE_SECONDS": "2",
    "PITH_INGEST_SCRATCH_BYTES": "1MiB",
    "PITH_REQUIRE_KEYS": "true",
    "PITH_ALLOWED_NETWORKS": "127.0.0.0/8",
    "PITH_WEBHOOK_SECONDS": "2",
    "PITH_LOG_FORMAT": "json",
}
STOP_SECONDS = 60.0
# `pith serve` up to where it reads its settings: on a busy machine imports take most of a minute,
# in which clients would do nothing but be refused.
SPARE = "import sys, app.main; from app.cli import main; sys.stdin.readline() and main()"
TENANTS = ("north", "south")
APART_SECONDS = 3600.0
# Less than any upload has: what is written fails as it does on a disk that is full.
NO_ROOM_BYTES = 512
SKEW = Path(__file__).parent / "skew"

Later = tuple[float, Callable[[], None]]


@dataclass
class Stage:
    """Everything that runs; used from one thread, the main one."""

    directory: Path
    postgres: servers.Postgres
    valkey: servers.Valkey
    to_postgres: Proxy
    to_valkey: Proxy
    database_url: str
    api_port: int
    env: dict[str, str]
    keys: list[str]
    bucket: Bucket | None = None
    inflicted: Counter[Kind] = field(default_factory=Counter)
    api: subprocess.Popen[bytes] | None = None
    spare: subprocess.Popen[bytes] | None = None
    workers: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    _started_at: dict[int, int] = field(default_factory=dict)
    _due: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def start_api(self) -> None:
        """(Re)start the API on its port, and another process to take its place one day."""
        self.api = self.spare or self._prepare_api()
        assert self.api.stdin is not None
        self.api.stdin.write(b"go\n")
        self.api.stdin.close()
        self.spare = self._prepare_api()

    def start_worker(self, number: int, ahead: float = 0.0) -> None:
        """(Re)start one worker, on a clock that is so many seconds ahead."""
        clock = {"PYTHONPATH": str(SKEW), "FAULTS_CLOCK_AHEAD": str(ahead)} if ahead else {}
        log = self.directory / f"worker{number}.log"
        self._started_at[number] = log.stat().st_size if log.exists() else 0
        self.workers[number] = self._spawn(["-m", "app", "worker"], f"worker{number}", clock)

    def _prepare_api(self) -> subprocess.Popen[bytes]:
        return self._spawn(["-c", SPARE, "serve"], "api", {}, stdin=subprocess.PIPE)

    def _spawn(
        self, line: list[str], name: str, more: dict[str, str], **options: int
    ) -> subprocess.Popen[bytes]:
        with (self.directory / f"{name}.log").open("ab") as log:
            command = [sys.executable, *line]
            return spawn(command, env={**self.env, **more}, stdout=log, stderr=log, **options)

    def run(self, faults: Iterator[Fault], seconds: float) -> None:
        """Let the faults happen at their time, and what has to follow them.

        Each waits until there is something left to break: a machine that takes long to start a
        process sees fewer of them, in the same order.
        """
        started = time.monotonic()
        late = 0.0
        for fault in faults:
            self._wait_until(started + fault.at + late)
            while not self.is_serving() and time.monotonic() - started < seconds:
                self._wait_until(time.monotonic() + 0.1)
                late = time.monotonic() - started - fault.at
            if fault.at + late > seconds:
                break
            self._inflict(fault)
        while self._due:
            self._wait_until(self._due[0][0])

    def is_serving(self) -> bool:
        """Whether the API answers and a worker is there."""
        if not any(self._is_warm(number) for number in self.workers):
            return False
        try:
            return httpx.get(f"http://127.0.0.1:{self.api_port}/livez").status_code == 200
        except httpx.TransportError:
            return False

    def _is_warm(self, number: int) -> bool:
        """Whether a worker has said since its start that it can take a job."""
        with (self.directory / f"worker{number}.log").open("rb") as log:
            log.seek(self._started_at[number])
            return b"worker process warm" in log.read()

    def _wait_until(self, moment: float) -> None:
        while True:
            next_due = self._due[0][0] if self._due else moment
            time.sleep(max(0.0, min(moment, next_due) - time.monotonic()))
            if not self._due or next_due > moment:
                return
            heapq.heappop(self._due)[2]()

    def _later(self, seconds: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._due, (time.monotonic() + seconds, next(self._numbers), action))

    def _inflict(self, fault: Fault) -> None:
        if "WORKER" in fault.kind.name or fault.kind in (Kind.KILL_MAIN, Kind.KILL_CHILD):
            warm = [number for number in self.workers if self._is_warm(number)]
            victim = fault.worker if fault.worker in warm else min(warm)
            self._harm_worker(fault, victim)
        else:
            self._harm_server(fault)
        self.inflicted[fault.kind] += 1

    def _harm_worker(self, fault: Fault, number: int) -> None:
        worker = self.workers[number]
        if fault.kind is Kind.KILL_CHILD:
            send(pool(worker), signal.SIGKILL)
            return
        del self.workers[number]
        if fault.kind is Kind.FREEZE_WORKER:
            frozen = family(worker)
            send(frozen, signal.SIGSTOP)
            self._later(1.5 * LEASE_SECONDS, lambda: self._wake(number, worker, frozen))
            return
        if fault.kind is Kind.STOP_WORKER:
            worker.terminate()
        else:
            send(family(worker)[: 1 if fault.kind is Kind.KILL_MAIN else None], signal.SIGKILL)
        is_apart = fault.kind is Kind.SKEW_WORKER
        ahead = math.copysign(APART_SECONDS, fault.seconds - 1) if is_apart else 0.0
        self._later(fault.seconds, lambda: self._replace(number, worker, ahead))

    def _wake(
        self, number: int, worker: subprocess.Popen[bytes], frozen: list[psutil.Process]
    ) -> None:
        send(frozen, signal.SIGCONT)
        self.workers[number] = worker

    def _replace(self, number: int, worker: subprocess.Popen[bytes], ahead: float) -> None:
        if worker.poll() is None:  # still handing back what it was doing
            self._later(0.1, lambda: self._replace(number, worker, ahead))
        else:
            self.start_worker(number, ahead)

    def _harm_server(self, fault: Fault) -> None:
        self._harms()[fault.kind](fault)

    def _harms(self) -> dict[Kind, Callable[[Fault], None]]:
        return {
            Kind.KILL_API: self._kill_api,
            Kind.RESTART_REDIS: lambda f: self._restart(self.valkey.program, signal.SIGINT, f),
            Kind.WIPE_REDIS: lambda _: self.valkey.flush(),
            Kind.RESTART_POSTGRES: lambda f: self._restart(self.postgres.program, signal.SIGINT, f),
            Kind.CRASH_POSTGRES: lambda f: self._restart(self.postgres.program, signal.SIGQUIT, f),
            Kind.CUT_POSTGRES: lambda _: self.to_postgres.cut(),
            Kind.CUT_REDIS: lambda _: self.to_valkey.cut(),
            Kind.DELAY_POSTGRES: lambda f: self._delay(self.to_postgres, f),
            Kind.DELAY_REDIS: lambda f: self._delay(self.to_valkey, f),
            Kind.SWALLOW_POSTGRES: lambda _: self.to_postgres.swallow(),
            Kind.FILL_DISK: self._fill_disk,
            Kind.RESTART_STORE: lambda f: self._restart(
                self.store.server.program, signal.SIGINT, f
            ),
            Kind.DELAY_STORE: lambda f: self._delay(self.store.way, f),
            Kind.BUSY_STORE: lambda f: self._spoil(lambda way: way.refuse(503), f),
            Kind.HALVE_STORE: lambda f: self._spoil(Proxy.halve, f),
            Kind.REVOKE_STORE: lambda f: self._spoil(lambda way: way.refuse(403), f),
        }

    @property
    def store(self) -> Bucket:
        """The store, of a run that has one on a server."""
        assert self.bucket is not None
        return self.bucket

    def _spoil(self, how: Callable[[Proxy], None], fault: Fault) -> None:
        how(self.store.way)
        self._later(fault.seconds, self.store.way.behave)

    def _kill_api(self, fault: Fault) -> None:
        assert self.api is not None
        self.api.kill()
        self.api.wait()
        self._later(fault.seconds, self.start_api)

    def _fill_disk(self, fault: Fault) -> None:
        assert self.api is not None
        api = psutil.Process(self.api.pid)
        _, most = api.rlimit(psutil.RLIMIT_FSIZE)
        api.rlimit(psutil.RLIMIT_FSIZE, (NO_ROOM_BYTES, most))
        self._later(fault.seconds, lambda: make_room(api, most))

    def _restart(self, program: servers.Program, number: int, fault: Fault) -> None:
        program.stop(number)
        time.sleep(fault.seconds)
        program.start()
        known: list[servers.Postgres | servers.Valkey | servers.S3] = [self.postgres, self.valkey]
        known += [self.bucket.server] if self.bucket else []
        next(server for server in known if server.program is program).wait()

    def _delay(self, way: Proxy, fault: Fault) -> None:
        way.hold()
        self._later(fault.seconds, way.release)

    def end(self) -> list[str]:
        """Stop everything; names what was left running or had ended by itself."""
        workers = list(self.workers.values())
        wrong = [f"a worker ended with {w.returncode}" for w in workers if w.poll() is not None]
        families = [member for w in workers if w.poll() is None for member in family(w)]
        for process in [*workers, *([self.api] if self.api else [])]:
            process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for process in workers:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
        _, alive = psutil.wait_procs(families, timeout=5)
        send(alive, signal.SIGKILL)
        for process in filter(None, (self.api, self.spare)):
            process.kill()
            process.communicate()  # also closes the pipe of one that was never told to go
        return (
            wrong
            + [f"a worker's process {p.pid} outlived its stop" for p in alive]
            + self.orphans()
        )

    def orphans(self) -> list[str]:
        """Processes of workers that were killed long ago."""
        mine = str(self.directory)
        left = [p for p in psutil.process_iter(["environ"]) if belongs(p, mine)]
        send(left, signal.SIGKILL)
        return [f"process {p.pid} outlived its worker" for p in left]


@contextmanager
def stage(directory: Path, n_workers: int, *, on_s3: bool) -> Iterator[Stage]:
    """All of it, with proxies in between, in this directory."""
    with ExitStack() as stack:
        # What was committed survives a crash of the server, as it does in a deployment.
        postgres = stack.enter_context(servers.postgres(synchronous_commit="on"))
        valkey = stack.enter_context(servers.valkey())
        to_postgres = stack.enter_context(proxy(postgres.port))
        to_valkey = stack.enter_context(proxy(valkey.port))
        bucket = stack.enter_context(bucket_on_s3()) if on_s3 else None
        database = postgres.create()
        upgrade(postgres.url(database))
        direct, port = postgres.url(database), servers.free_port()
        env = {
            **os.environ,
            **SETTINGS,
            "PITH_DATABASE_URL": direct.replace(str(postgres.port), str(to_postgres.port)),
            "PITH_BROKER_URL": valkey.url().replace(str(valkey.port), str(to_valkey.port)),
            "PITH_DATA_DIR": str(directory / "data"),
            "PITH_PORT": str(port),
            **(bucket.env if bucket else {}),
        }
        keys = [make_key(env, tenant) for tenant in TENANTS]
        running = Stage(
            directory, postgres, valkey, to_postgres, to_valkey, direct, port, env, keys, bucket
        )
        compile_kernels(env)
        running.start_api()
        for number in range(n_workers):
            running.start_worker(number)
        try:
            yield running
        finally:
            running.end()
