"""The parts of the embedded service, one by one."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from app.processes import supervisor
from app.processes.embedded import StartError, serve
from app.processes.embedded.lock import locked
from app.processes.embedded.valkey import Broker, choose_broker
from app.processes.supervisor import Child, Supervisor
from app.settings import Settings


def until(condition: Callable[[], bool], supervised: Supervisor | None = None) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        supervised.tend() if supervised else time.sleep(0.02)


@pytest.fixture(autouse=True)
def signals_as_before() -> object:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def sleeper() -> Child:
    return Child("sleeper", [sys.executable, "-c", "import time; time.sleep(60)"], os.environ)


def test_a_directory_is_locked_once_and_free_again(tmp_path: Path) -> None:
    refused = pytest.raises(StartError, match=f"process {os.getpid()}")
    with locked(tmp_path), refused, locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


def test_a_child_that_dies_comes_back() -> None:
    with Supervisor(stop_seconds=5) as supervised:
        child = supervised.add(sleeper())
        assert child.process is not None
        first = child.process
        first.kill()
        until(lambda: child.process not in (None, first), supervised)
        assert child.running


def test_pauses_grow_while_a_child_keeps_failing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "FIRST_PAUSE_SECONDS", 0.01)
    child = Child("broken", [sys.executable, "-c", "raise SystemExit(1)"], os.environ)
    pauses: list[float] = []
    with Supervisor(stop_seconds=5) as supervised:
        supervised.add(child)
        while child.failures < 4:
            before = child.failures
            supervised.tend()
            if child.failures > before:
                pauses.append(round(child.resume - time.monotonic(), 1))
    assert pauses == sorted(pauses)


def test_what_runs_once_is_not_started_again() -> None:
    child = Child("brief", [sys.executable, "-c", ""], os.environ, once=True)
    with Supervisor(stop_seconds=5) as supervised:
        supervised.add(child)
        first = child.process
        until(lambda: not child.running, supervised)
        supervised.tend()
    assert child.process is first
    assert child.failures == 0


def test_children_are_stopped_at_the_end_even_the_deaf() -> None:
    deaf = (
        "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    )
    with Supervisor(stop_seconds=0.2) as supervised:
        child = supervised.add(Child("deaf", [sys.executable, "-c", deaf], os.environ))
        other = supervised.add(sleeper())
    assert not child.running
    assert not other.running


def test_a_signal_ends_the_supervision() -> None:
    with Supervisor(stop_seconds=5) as supervised:
        supervised.add(sleeper())
        os.kill(os.getpid(), signal.SIGTERM)
        supervised.run()
        assert supervised.stopping


def answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


def test_the_broker_wants_its_password_and_remembers(tmp_path: Path) -> None:
    broker = choose_broker()
    for attempt in range(2):
        with Supervisor(stop_seconds=5) as supervised, redis.Redis.from_url(broker.url) as client:
            supervised.add(broker.child(tmp_path / "with space"))
            until(lambda client=client: answers(client), supervised)  # type: ignore[misc]
            if attempt == 0:
                client.set("kept", "yes")
            assert client.get("kept") == b"yes"
            refused = pytest.raises(redis.AuthenticationError)
            with redis.Redis(port=broker.port) as stranger, refused:
                stranger.ping()


def test_the_password_is_in_no_command_line(tmp_path: Path) -> None:
    broker = Broker(port=1, password="hush")
    assert "hush" not in " ".join(broker.child(tmp_path).command)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.org", "192.168.1.1"])
def test_only_loopback_is_listened_on(tmp_path: Path, host: str) -> None:
    settings = Settings(data_dir=tmp_path, host=host, port=0)
    with pytest.raises(StartError, match="loopback only"):
        serve.serve(settings, print, print)


def test_a_taken_port_is_a_sentence(tmp_path: Path) -> None:
    with serve._listening("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(StartError, match=f"Port {port}"):
            serve.serve(Settings(data_dir=tmp_path, port=port), print, print)


def test_an_unwritable_directory_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StartError, match="cannot be written"):
        serve.serve(Settings(data_dir=tmp_path / "file" / "data", port=0), print, print)
