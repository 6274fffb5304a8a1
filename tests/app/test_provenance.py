"""What computes has a name of its own: checkpoints and compiled kernels go by it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

import core
from app import provenance
from app.jobs import checkpoints
from tests.app.protocol import Protocol


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the engine, which may be changed."""
    sources = shutil.copytree(Path(core.__file__).parent, tmp_path / "core")
    spec = ModuleSpec("core", None, origin=str(sources / "__init__.py"))
    monkeypatch.setattr(provenance, "find_spec", lambda _: spec)
    yield sources
    provenance.engine_key.cache_clear()


def key() -> str:
    provenance.engine_key.cache_clear()
    return provenance.engine_key()


def test_other_code_has_another_key(engine: Path) -> None:
    before = key()
    assert key() == before
    with (engine / "cpd" / "em.py").open("a") as file:
        file.write("\n# another engine\n")
    assert key() != before


def test_so_have_other_libraries_but_no_other_version_of_ours(
    engine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, versions = key(), provenance.versions()
    monkeypatch.setattr(provenance, "versions", lambda: {**versions, "pith": "9.9"})
    assert key() == before
    monkeypatch.setattr(provenance, "versions", lambda: {**versions, "numpy": "9.9"})
    assert key() != before


def test_a_checkpoint_of_another_engine_is_left_alone(sqlite_url: str, engine: Path) -> None:
    protocol, first = Protocol(sqlite_url), key()
    work = protocol.claimed(protocol.submit())
    with protocol.database.write() as session:
        assert checkpoints.save(session, work.claim, first, {"fit": b"arrays"})
    (engine / "workers.py").unlink()
    with protocol.database.read() as session:
        assert checkpoints.load(session, work.claim.job_id, first) == {"fit": b"arrays"}
        assert checkpoints.load(session, work.claim.job_id, key()) == {}
    protocol.database.dispose()
