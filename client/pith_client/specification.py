"""What a job is asked to do, with the shorthands that a person would type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

MethodChoice = str | Mapping[str, Any]


class JobOptions(TypedDict, total=False):
    """Everything that a job can be asked; what is left out has the service's default.

    A method is its name, or a mapping with `name` and parameters. `evaluate=True` asks for accuracy
    curves, `compare=["gsm_cpd", "mrmr"]` for those of several methods on the same splits, and
    `stability=50` for how often each feature is chosen from that many samples of the rows.
    `source` is data where it lies, instead of a dataset: `{"connection": "lake", "path": ...}`;
    `destination` is where the files of the result go: the same, of a folder.
    """

    k: int | Literal["auto"]
    method: MethodChoice
    columns: Mapping[str, Sequence[str]]
    discretize: Mapping[str, Any]
    weight_column: str
    seed: int
    evaluate: bool | Mapping[str, Any]
    compare: Sequence[MethodChoice] | Mapping[str, Any]
    stability: bool | int | Mapping[str, Any]
    engine: Literal["auto", "memory", "file", "dask"]
    deadline_seconds: int
    title: str
    labels: Mapping[str, str]
    notify: str
    priority: Literal["low", "normal", "high"]
    source: Mapping[str, Any]
    destination: Mapping[str, Any]


def specification(dataset_id: str | None, target: str, options: JobOptions) -> dict[str, Any]:
    """The body of a submission."""
    body: dict[str, Any] = {"dataset_id": dataset_id, "target": target, **options}
    if "method" in body:
        body["method"] = _method(body["method"])
    if "compare" in body:
        body["compare"] = _comparison(body["compare"])
    for part in ("evaluate", "stability"):
        if isinstance(body.get(part), bool):
            body[part] = {} if body[part] else None
    if isinstance(body.get("stability"), int):
        body["stability"] = {"n_samples": body["stability"]}
    return {name: value for name, value in body.items() if value is not None}


def _method(choice: MethodChoice) -> Mapping[str, Any]:
    return {"name": choice} if isinstance(choice, str) else choice


def _comparison(choice: Sequence[MethodChoice] | Mapping[str, Any]) -> Mapping[str, Any]:
    document = dict(choice) if isinstance(choice, Mapping) else {"methods": choice}
    return {**document, "methods": [_method(method) for method in document.get("methods", ())]}
