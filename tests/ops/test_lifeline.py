"""A child ends with its parent, both where the kernel helps and where it does not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from app.processes import lifeline
from tests import servers

PARENT = """
import sys, time
from app.processes.lifeline import spawn
print(spawn([sys.executable, "-c", "import time; time.sleep(60)"]).pid, flush=True)
time.sleep(60)
"""


def children_of_a_killed_parent() -> list[psutil.Process]:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    started = [child, *child.children(recursive=True)]
    parent.kill()
    parent.wait()
    parent.stdout.close()
    return started


def test_a_spawned_command_dies_with_its_parent() -> None:
    _gone, alive = psutil.wait_procs(children_of_a_killed_parent(), timeout=30)
    assert alive == []


def test_a_command_whose_parent_is_already_gone_never_starts(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    command = [sys.executable, "-IS", lifeline.__file__, str(gone.pid), "touch", str(mark)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert not mark.exists()


def test_a_spawned_command_keeps_its_exit_status() -> None:
    assert lifeline.spawn([sys.executable, "-c", "raise SystemExit(7)"]).wait() == 7


KEEPER = """
import os, sys
sys.platform = "other"
from app.processes.lifeline import _become
sys.exit(_become(os.getppid(), sys.argv[1:]))
"""


@pytest.fixture
def keeper(tmp_path: Path) -> tuple[subprocess.Popen[bytes], psutil.Process]:
    """A parent in a shell of its own, and the command that it keeps."""
    pid_file = tmp_path / "pid"
    sleeper = (
        f"import os, time; open({str(pid_file)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    )
    command = [sys.executable, "-c", KEEPER, sys.executable, "-c", sleeper]
    shell = f"import subprocess; subprocess.run({command!r})"
    parent = subprocess.Popen([sys.executable, "-c", shell], cwd=Path(lifeline.__file__).parents[1])
    servers.until(lambda: pid_file.exists() and pid_file.read_text())
    return parent, psutil.Process(int(pid_file.read_text()))


def test_the_keeper_kills_its_command_when_the_parent_is_gone(
    keeper: tuple[subprocess.Popen[bytes], psutil.Process],
) -> None:
    parent, command = keeper
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    _gone, alive = psutil.wait_procs([command], timeout=30)
    assert alive == []
