"""A result as a run of MLflow: what was asked, what held on rows held out, and what to read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Document = Mapping[str, Any]
LONGEST_VALUE = 500  # of a parameter, as the oldest stores of MLflow have it


def log_to_mlflow(
    job_id: str, document: Document, write_report: Callable[[Path], object] | None
) -> str:
    """Log to the run that is active, or to a new one; answers its id."""
    mlflow = import_module("mlflow")  # late: it takes seconds, and few need it
    with _run(mlflow) as run:
        mlflow.log_params(parameters(job_id, document))
        for step, figures in curve(document):
            mlflow.log_metrics(figures, step=step)
        with TemporaryDirectory() as name:
            _write(Path(name), document, write_report)
            mlflow.log_artifacts(name, artifact_path="pith")
        run_id: str = run.info.run_id
        return run_id


def _run(mlflow: Any) -> Any:
    active = mlflow.active_run()
    return nullcontext(active) if active else mlflow.start_run()  # who started a run ends it


def parameters(job_id: str, document: Document) -> dict[str, str]:
    """What ran, completed: the specification, and of which bytes by which version."""
    provenance = document["provenance"]
    asked = {
        name: value for name, value in provenance["specification"].items() if value is not None
    }
    made = {"job_id": job_id, "dataset_sha256": provenance["dataset"]["sha256"]}
    version = {"pith_version": provenance["versions"]["pith"]}
    return {f"pith.{name}": _text(value) for name, value in {**asked, **made, **version}.items()}


def _text(value: Any) -> str:
    return (value if isinstance(value, str) else json.dumps(value))[:LONGEST_VALUE]


def curve(document: Document) -> Iterator[tuple[int, dict[str, float]]]:
    """Figures for K = 0, 1, ... features: held-out information, or gains of methods without it."""
    held_out = document.get("held_out")
    if not held_out:
        for feature in document["selected"]:
            yield feature["rank"], {"pith.gain": feature["gain"]}
        return
    errors = held_out["standard_error"]
    for k, information in enumerate(held_out["information"]):
        yield k, {"pith.information": information, "pith.information_se": errors[k]}


def _write(folder: Path, document: Document, write_report: Callable[[Path], object] | None) -> None:
    names = [feature["name"] for feature in document["selected"]]
    (folder / "names.json").write_text(json.dumps(names, indent=1))
    (folder / "result.json").write_text(json.dumps(document))
    if write_report is not None:
        write_report(folder / "report.html")
