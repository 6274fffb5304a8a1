"""A real service for the examples, which run in environments that hold nothing of it.

`make test-integrations` runs these files, each in its own environment; `make test` does not.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pith_client import Pith, Result

ROOT = Path(__file__).parents[2]
PITH = ROOT / ".venv" / "bin" / "pith"


@pytest.fixture(scope="session")
def pith_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where `pith serve` answers."""
    env = {**os.environ, "PITH_DATA_DIR": str(tmp_path_factory.mktemp("data")), "PITH_PORT": "0"}
    with subprocess.Popen([PITH, "serve"], env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        greeting = next(line for line in process.stdout if "answers at" in line)
        address = re.search(r"http://\S+", greeting)
        assert address is not None
        try:
            yield address[0]
        finally:
            process.terminate()


@pytest.fixture(scope="session", autouse=True)
def _examples(pith_url: str) -> None:
    os.environ["PITH_URL"] = pith_url
    sys.path.insert(0, str(ROOT / "examples"))


@pytest.fixture(scope="session")
def expected(pith_url: str) -> Result:
    """What the examples come to, asked for without anything in between."""
    with Pith(pith_url) as pith:
        wine = ROOT / "examples" / "wine.csv"
        return pith.select(wine, target="cultivar", k=3, seed=1, progress=False)
