"""No process outlives the one that started it, however that one ended.

Run as a script, `python lifeline.py PARENT COMMAND...`, it becomes COMMAND tied to PARENT. It
imports the standard library only, so that it starts in a few milliseconds.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

PR_SET_PDEATHSIG = 1
POLL_SECONDS = 0.5


def die_with_parent(parent: int | None = None) -> None:
    """Have this process killed when its parent ends; `parent` guards against one already gone.

    The kernel watches the thread that forked, so parents start their children from a thread that
    stays, the main one.
    """
    if sys.platform == "linux":
        if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL) != 0:
            raise OSError(ctypes.get_errno(), "prctl refused PR_SET_PDEATHSIG")
    else:
        threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def command_of(module: str, *arguments: str) -> list[str]:
    """The command that runs a module of ours, and none of that name in the current directory."""
    return [sys.executable, "-P", "-m", module, *arguments]


def spawn(
    command: Sequence[str], *, env: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[bytes]:
    """Start a command that ends with this process."""
    tied = [sys.executable, "-IS", __file__, str(os.getpid()), *command]
    return subprocess.Popen(tied, env=env, **options)  # noqa: S603  our own command lines


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(POLL_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


def _become(parent: int, command: list[str]) -> int:
    if sys.platform == "linux":
        die_with_parent(parent)
        os.execvp(command[0], command)  # noqa: S606  the death signal survives exec
    return _keep(parent, command)


def _keep(parent: int, command: list[str]) -> int:
    """Where the kernel offers no death signal: stay in between and look for the parent."""
    child = subprocess.Popen(command, close_fds=False)  # noqa: S603  a listener may be among them
    for stop in (signal.SIGTERM, signal.SIGINT):
        signal.signal(stop, lambda number, _frame: child.send_signal(number))
    while child.poll() is None:
        if os.getppid() != parent:
            child.kill()
        time.sleep(POLL_SECONDS)
    return child.returncode


if __name__ == "__main__":
    sys.exit(_become(int(sys.argv[1]), sys.argv[2:]))
