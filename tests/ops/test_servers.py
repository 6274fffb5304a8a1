"""The test servers are what they say, and go when their owner goes."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys

import psutil
import psycopg
import redis

from tests import servers

OWNER = """
import time
from tests import servers
with servers.postgres() as database, servers.valkey() as broker:
    print(database.program.process.pid, broker.program.process.pid, flush=True)
    print(database.directory, broker.directory, flush=True)
    time.sleep(60)
"""


def test_a_database_copies_its_template(postgres: servers.Postgres) -> None:
    original = postgres.create()
    plain = postgres.url(original).replace("+psycopg", "")
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute("CREATE TABLE marker (n int)")
    copy = postgres.create(template=original)
    with psycopg.connect(postgres.url(copy).replace("+psycopg", "")) as connection:
        assert connection.execute("SELECT count(*) FROM marker").fetchone() == (0,)
    postgres.drop(original)
    postgres.drop(copy)


def test_valkey_forgets_on_flush(valkey: servers.Valkey) -> None:
    with redis.Redis(port=valkey.port) as client:
        client.set("a", "b")
        valkey.flush()
        assert client.get("a") is None


def test_servers_die_with_a_killed_owner() -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE)
    assert owner.stdout is not None
    started = [psutil.Process(int(pid)) for pid in owner.stdout.readline().split()]
    assert [process.is_running() for process in started] == [True, True]
    directories = owner.stdout.readline().decode().split()
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    _gone, alive = psutil.wait_procs(started, timeout=30)
    for directory in directories:
        shutil.rmtree(directory)
    assert alive == []
