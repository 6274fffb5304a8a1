"""The factors of a fitted model in three formats: JSON, `.npz`, Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
from numpy.typing import NDArray

ARROW = "application/vnd.apache.arrow.stream"
NPZ = "application/x-npz"


@dataclass(frozen=True)
class Variable:
    """One factor with the names of its rows."""

    name: str
    levels: list[str]
    factor: NDArray[np.float64]


def _variables(
    document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], index: int
) -> Iterator[Variable]:
    levels = {column["name"]: column["levels"] for column in document["encoding"]}
    cuts = np.cumsum(arrays[f"{index}/n_levels"])[:-1]
    factors = np.split(arrays[f"{index}/factors"], cuts)
    for name, factor in zip(document["models"][index]["variables"], factors, strict=True):
        yield Variable(name, levels.get(name) or [str(i) for i in range(len(factor))], factor)


def factors_json(document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Factors as plain JSON values."""
    return {
        "models": [
            {
                "rank": model["rank"],
                "family": model["family"],
                "weights": arrays[f"{index}/weights"].tolist(),
                "variables": [
                    {"name": v.name, "levels": list(v.levels), "factor": v.factor.tolist()}
                    for v in _variables(document, arrays, index)
                ],
            }
            for index, model in enumerate(document["models"])
        ]
    }


def factors_arrow(document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """One row for each level of each variable, and one without either for the weights."""
    rows = [
        row for index in range(len(document["models"])) for row in _rows(document, arrays, index)
    ]
    schema = pa.schema(
        [
            ("model", pa.int32()),
            ("variable", pa.string()),
            ("level", pa.string()),
            ("probabilities", pa.list_(pa.float64())),
        ]
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_table(pa.Table.from_pylist(rows, schema))
    return bytes(sink.getvalue())


def _rows(
    document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], index: int
) -> Iterator[dict[str, Any]]:
    weights = arrays[f"{index}/weights"]
    yield {"model": index, "variable": None, "level": None, "probabilities": weights.tolist()}
    for variable in _variables(document, arrays, index):
        for level, probabilities in zip(variable.levels, variable.factor, strict=True):
            yield {
                "model": index,
                "variable": variable.name,
                "level": level,
                "probabilities": probabilities.tolist(),
            }
