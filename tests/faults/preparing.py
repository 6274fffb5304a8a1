"""What is done once before a run."""

from __future__ import annotations

import json
import subprocess
import sys


def compile_kernels(env: dict[str, str]) -> None:
    """Once before the start: a worker that compiles is no worker for minutes."""
    code = "from core.warm import warm_kernels; warm_kernels()"
    subprocess.run([sys.executable, "-c", code], env=env, check=True)


def make_key(env: dict[str, str], tenant: str) -> str:
    """A key of a tenant, made as an operator makes it."""
    command = [sys.executable, "-m", "app", "keys", "create", "--tenant", tenant, "--json"]
    created = subprocess.run(command, env=env, check=True, capture_output=True)
    key: str = json.loads(created.stdout)["key"]
    return key
