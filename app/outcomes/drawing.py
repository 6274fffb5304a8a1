"""A result in pictures, and as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from app.datasets.service import find_name
from app.errors import NotAcceptable, NotFound
from app.jobs import service
from app.outcomes.model_parts import read_parts
from app.outcomes.packed import Packed, find_arrays
from app.outcomes.reading import Read
from app.report.page import About, report
from app.report.parts import Part, parts_of, variables_drawn


@dataclass(frozen=True)
class Drawn:
    """A result and its pictures."""

    document: dict[str, Any]
    parts: Sequence[Part]


def draw(read: Read, job_id: str, pixel_width: int | None = None) -> Drawn:
    """Every chart of the result, or Conflict while there is none."""
    document = read(service.get_document, job_id)
    shown, arrays = _shown(read, job_id, document)
    return Drawn(document, parts_of(shown, arrays, pixel_width))


def page_of(read: Read, job_id: str, drawn: Drawn) -> str:
    """The pictures and the provenance in one file that needs nothing else."""
    job = read(service.get_job, job_id)
    about = About(dataset_name(read, job.dataset_id), job.finished_at)
    return report(drawn.document, drawn.parts, about)


def dataset_name(read: Read, dataset_id: str) -> str:
    """What a dataset is called; by its id, where it has no name or is gone."""
    return read(find_name, dataset_id) or dataset_id


def _shown(
    read: Read, job_id: str, document: dict[str, Any]
) -> tuple[dict[str, Any], Mapping[str, NDArray[Any]]]:
    """The result with its models; of models that are too large with the part that is drawn."""
    try:
        packed = find_arrays(read, job_id)
    except NotFound as error:
        if error.code != "no_factors":
            raise
        return document, {}
    try:
        return read_parts(Packed(*packed), document, None)
    except NotAcceptable:
        return read_parts(Packed(*packed), document, variables_drawn(document))
