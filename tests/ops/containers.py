"""The container files as data: what they would run, for a test that runs it without an engine."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PASSWORDS = {
    "POSTGRES_PASSWORD": "p/s@cr:e%t?#",
    "REDIS_PASSWORD": "r/s@cr:e%t?#",
    "KEY_SECRET": "k-secret" * 4,
    "S3_SECRET": "s-secret" * 4,
}
INSTRUCTION = re.compile(r"^([A-Z]+) (.*?)(?<!\\)$", re.M | re.S)


def docker_compose(*arguments: str, env: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    """The program itself: the wheel's entry point swallows its exit status."""
    spec = find_spec("compose")
    assert spec is not None
    assert spec.origin is not None
    program = Path(spec.origin).with_name("docker-compose")
    return subprocess.run(
        [program, *arguments], env=env, cwd=ROOT, check=False, capture_output=True
    )


def compose(*options: str) -> dict[str, Any]:
    """The services as `docker compose` understands them, with variables filled in."""
    services: dict[str, Any] = _document(*options)["services"]
    return services


def config(name: str) -> str:
    """The text of a file that is mounted into a container."""
    content: str = _document()["configs"][name]["content"]
    return content


def compose_on_s3(*options: str) -> dict[str, Any]:
    """The same with the store in a bucket."""
    files = ("-f", "docker-compose.yml", "-f", "docker-compose.s3.yml", "--profile", "s3")
    return compose(*files, *options)


def _document(*options: str) -> Any:
    env = {**os.environ, **PASSWORDS}
    done = docker_compose(*options, "config", "--format", "json", env=env)
    return json.loads(done.stdout)


def dockerfile() -> list[tuple[str, str]]:
    """Instructions in order, each with its arguments, without comments."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.M)
    return INSTRUCTION.findall(text)


def stages() -> list[list[tuple[str, str]]]:
    """The instructions of each stage."""
    found: list[list[tuple[str, str]]] = []
    for name, arguments in dockerfile():
        if name == "FROM":
            found.append([])
        found[-1].append((name, arguments))
    return found
