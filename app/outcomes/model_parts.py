"""The parts of fitted models that an answer needs, of which there may be far more."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from app.errors import NotAcceptable
from app.outcomes.packed import PIECE_BYTES, Packed

# Of factors in one answer; in JSON they take three times that.
MOST_BYTES = 32 << 20

Document = Mapping[str, Any]
Arrays = dict[str, NDArray[Any]]


def read_parts(
    packed: Packed, document: Document, wanted: Collection[str] | None
) -> tuple[dict[str, Any], Arrays]:
    """A result with only the wanted variables, and the label, in its models; and their arrays."""
    models: list[dict[str, Any]] = []
    arrays: Arrays = {}
    with ZipFile(io.BufferedReader(packed, PIECE_BYTES)) as file:
        kept = [_kept(model["variables"], wanted) for model in document["models"]]
        n_levels = [_read(file, f"{i}/n_levels") for i in range(len(kept))]
        _check_size(document["models"], kept, n_levels)
        for i, (model, variables) in enumerate(zip(document["models"], kept, strict=True)):
            arrays[f"{i}/weights"] = _read(file, f"{i}/weights")
            arrays[f"{i}/n_levels"] = n_levels[i][variables]
            arrays[f"{i}/factors"] = _read_rows(file, f"{i}/factors", n_levels[i], variables)
            models.append({**model, "variables": [model["variables"][v] for v in variables]})
    return {**document, "models": models}, arrays


def _kept(variables: Sequence[str], wanted: Collection[str] | None) -> list[int]:
    last = len(variables) - 1
    return [i for i, name in enumerate(variables) if wanted is None or i == last or name in wanted]


def _check_size(
    models: Sequence[Document], kept: Sequence[list[int]], n_levels: Sequence[NDArray[np.int64]]
) -> None:
    sizes = zip(models, kept, n_levels, strict=True)
    n_bytes = 8 * sum(int(levels[part].sum()) * model["rank"] for model, part, levels in sizes)
    if n_bytes > MOST_BYTES:
        detail = (
            f"these factors take {n_bytes} bytes, more than the {MOST_BYTES} of one answer: "
            "name fewer `features`, or ask for application/x-npz"
        )
        raise NotAcceptable(detail, code="factors_too_large")


def _read(file: ZipFile, name: str) -> NDArray[Any]:
    with file.open(f"{name}.npy") as member:
        array: NDArray[Any] = npy.read_array(member, allow_pickle=False)
        return array


def _read_rows(
    file: ZipFile, name: str, n_levels: NDArray[np.int64], variables: Sequence[int]
) -> NDArray[np.float64]:
    """The rows of some variables of an array in which all are below each other."""
    with file.open(f"{name}.npy") as member:
        npy.read_magic(member)
        (_, rank), _, dtype = npy.read_array_header_1_0(member)
        first, stops = member.tell(), np.cumsum(n_levels)
        row_bytes, parts = rank * dtype.itemsize, []
        for variable in variables:  # in ascending order, so that nothing is unpacked twice
            member.seek(first + int(stops[variable] - n_levels[variable]) * row_bytes)
            rows = member.read(int(n_levels[variable]) * row_bytes)
            parts.append(np.frombuffer(rows, dtype).reshape(-1, rank))
    return np.concatenate(parts)
