"""All files that a job leaves, each made when it is asked for, a piece at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from app.errors import NotAcceptable, NotFound
from app.jobs import service
from app.outcomes.drawing import draw, page_of
from app.outcomes.factors import ARROW, NPZ, factors_arrow
from app.outcomes.lists import selected_table, trace_table
from app.outcomes.model_parts import read_parts
from app.outcomes.packed import Packed, find_arrays, pieces
from app.outcomes.reading import Read
from app.outcomes.tables import PARQUET, stream
from app.store.base import Store

JSON = "application/json"
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class OutFile:
    """A file by name, and how to make its bytes."""

    name: str
    media_type: str
    pieces: Callable[[], Iterator[bytes]]


def files_of(read: Read, store: Store, job_id: str, *, data: bool) -> list[OutFile]:
    """The result, what was chosen, what it told, the model if there is one, and the report.

    With `data` also the reduced table.
    """
    document = read(service.get_document, job_id)
    found = [
        OutFile("result.json", JSON, lambda: iter([_json(document)])),
        OutFile("selected.parquet", PARQUET, lambda: _parquet(selected_table(document))),
        OutFile("trace.parquet", PARQUET, lambda: _parquet(trace_table(document))),
        *_factors(read, job_id),
        OutFile("report.html", HTML, lambda: _report(read, job_id)),
    ]
    if data:
        found.append(OutFile("data.parquet", PARQUET, lambda: _data(read, store, job_id)))
    return found


def _json(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _parquet(table: pa.Table) -> Iterator[bytes]:
    return stream(PARQUET, table.schema, table.to_batches())


def _factors(read: Read, job_id: str) -> list[OutFile]:
    """As Arrow; a model too large for that as it is kept; none of a method that fits none."""
    try:
        n_bytes, read_piece = find_arrays(read, job_id)
    except NotFound as error:
        if error.code != "no_factors":
            raise
        return []
    document = read(service.get_document, job_id)
    try:
        part = read_parts(Packed(n_bytes, read_piece), document, None)
    except NotAcceptable:
        return [OutFile("factors.npz", NPZ, lambda: pieces(n_bytes, read_piece))]
    return [OutFile("factors.arrow", ARROW, lambda: iter([factors_arrow(*part)]))]


def _report(read: Read, job_id: str) -> Iterator[bytes]:
    yield page_of(read, job_id, draw(read, job_id)).encode()


def _data(read: Read, store: Store, job_id: str) -> Iterator[bytes]:
    # Polars takes a tenth of a second to load, and most processes never need it.
    from app.jobs.tables import reduced_table  # noqa: PLC0415

    table = read(reduced_table, store, job_id, everything=False, encoded=False)
    return stream(PARQUET, table.schema, table.batches)
