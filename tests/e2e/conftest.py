"""One embedded service for the tests that leave it as it was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.embedded import Service, serving

# Packages of a person who starts the service among them, and calls them as we do ours.
OURS = ("app", "core", "worker", "migrations")


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory = tmp_path_factory.mktemp("embedded")
    for name in OURS:
        (directory / name).mkdir()
        (directory / name / "__init__.py").write_text(f"raise RuntimeError('not our {name}')")
    with serving(directory / "data") as running:
        yield running
