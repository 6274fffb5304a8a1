"""The example for MLflow, on a store of files, read back by MLflow's own client."""

from __future__ import annotations

import json
from pathlib import Path

import mlflow

from pith_client import Result


def test_the_example_logs_parameters_curve_names_and_report(
    tmp_path: Path, expected: Result
) -> None:
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    mlflow.create_experiment("wine", artifact_location=(tmp_path / "artifacts").as_uri())
    mlflow.set_experiment("wine")
    from mlflow_selection import main

    client = mlflow.MlflowClient()
    run_id = main()
    run = client.get_run(run_id)
    assert (run.info.status, run.data.params["pith.target"]) == ("FINISHED", "cultivar")
    assert run.data.params["pith.k"] == "3"
    assert len(run.data.params["pith.dataset_sha256"]) == 64
    curve = client.get_metric_history(run_id, "pith.information")
    assert expected.held_out is not None
    assert [(point.step, point.value) for point in curve] == [
        *enumerate(expected.held_out.information)
    ]
    folder = Path(client.download_artifacts(run_id, "pith", str(tmp_path)))
    assert json.loads((folder / "names.json").read_text()) == expected.names
    assert json.loads((folder / "result.json").read_text())["target"] == "cultivar"
    assert "<svg" in (folder / "report.html").read_text()
