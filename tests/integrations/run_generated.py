"""A client that openapi-python-client makes of openapi.json: upload, submit, poll, result."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pith_client import Result

ROOT = Path(__file__).parents[2]
# Of an upload it knows the form alone, not the bare bodies: all else it takes as it is.
KNOWN = "Unsupported content type"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a package that was made just now."""
    generator = Path(sys.executable).parent / "openapi-python-client"
    command: list[str | Path] = [
        generator,
        "generate",
        "--path",
        ROOT / "openapi.json",
        "--meta",
        "none",
    ]
    command += ["--output-path", tmp_path / "generated_pith"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    spoken = (done.stdout + done.stderr).splitlines()
    warned = [i for i, line in enumerate(spoken) if line.startswith("WARNING parsing")]
    assert all(spoken[i].split()[2:4] == ["POST", "/v1/datasets"] for i in warned), done.stdout
    assert all(any(KNOWN in line for line in spoken[i : i + 4]) for i in warned), done.stdout
    monkeypatch.syspath_prepend(tmp_path)
    return "generated_pith"


def test_a_generated_client_goes_the_whole_way(made: str, pith_url: str, expected: Result) -> None:
    def call(name: str, **arguments: Any) -> Any:
        module = importlib.import_module(f"{made}.api.{name}")
        return module.sync(client=client, **arguments)

    top, models, types = (
        importlib.import_module(f"{made}{part}") for part in ("", ".models", ".types")
    )
    client = top.Client(base_url=pith_url)
    wine = (ROOT / "examples" / "wine.csv").read_bytes()
    file = types.File(payload=wine, file_name="wine.csv", mime_type="text/csv")
    dataset = call("datasets.upload_dataset", body=models.UploadDatasetFilesBody(file=file))
    order = models.JobCreate(dataset_id=dataset.id, target="cultivar", k=3, seed=1)
    job = call("jobs.submit_job", body=order)
    while not (polled := call("jobs.get_job", job_id=job.id, prefer="wait=10")).finished_at:
        assert polled.status in {"queued", "running"}
    assert polled.status == "succeeded"
    result = call("outcomes.get_result", job_id=job.id)
    assert [feature.name for feature in result.selected] == expected.names
