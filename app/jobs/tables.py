"""The table that a job leaves: the rows of its dataset, with what was chosen and the target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa

from app.datasets.extracts import (
    Batches,
    CodedFeature,
    Extract,
    coded,
    coded_schema,
    names_of,
    with_codes,
)
from app.datasets.faults import MISSING, Damaged
from app.datasets.keys import COLUMNS, key_of
from app.datasets.repository import exists
from app.db.base import Reader
from app.errors import NotFound
from app.jobs.service import get_document, get_job
from app.store.base import Store, StoreAway
from core.results.documents import read
from core.results.selection import Derived, EncodedColumn


@dataclass(frozen=True)
class ReducedTable:
    """Columns of a dataset, to be read once."""

    dataset_id: str
    schema: pa.Schema
    batches: Batches


def reduced_table(
    session: Reader, tenant: str, store: Store, job_id: str, *, everything: bool, encoded: bool
) -> ReducedTable:
    """What a job chose and the target, or all columns; as codes, those that it computed with."""
    document = get_document(session, tenant, job_id)
    dataset_id = get_job(session, tenant, job_id).dataset_id
    file = _open(session, store, tenant, dataset_id)
    if encoded:
        features = _coded(document, everything=everything)
        extract = Extract(file, _once(feature.source for feature in features))
        features = with_codes(features, extract.schema)
        return ReducedTable(dataset_id, coded_schema(features), coded(extract.batches(), features))
    derived = _derived(document)
    chosen = [derived[n].source_column if n in derived else n for n in _chosen(document)]
    extract = Extract(file, names_of(file) if everything else _once(chosen))
    return ReducedTable(dataset_id, extract.schema, extract.batches())


def _chosen(document: Mapping[str, Any]) -> list[str]:
    return [feature["name"] for feature in document["selected"]] + [document["target"]]


def _coded(document: Mapping[str, Any], *, everything: bool) -> list[CodedFeature]:
    """Features with what was learnt about them."""
    derived = _derived(document)
    learnt = {column["name"]: column for column in document["encoding"]}
    names = list(learnt) if everything else _chosen(document)
    return [CodedFeature(read(learnt[name], EncodedColumn), derived.get(name)) for name in names]


def _derived(document: Mapping[str, Any]) -> dict[str, Derived]:
    return {part["name"]: read(part, Derived) for part in document.get("derived", ())}


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _open(session: Reader, store: Store, tenant: str, dataset_id: str) -> BinaryIO:
    try:
        return store.open(key_of(tenant, dataset_id, COLUMNS))
    except StoreAway:
        raise
    except FileNotFoundError as error:
        if exists(session, dataset_id):
            raise Damaged(MISSING) from error
        detail = f"the dataset {dataset_id} of this job is gone"
        raise NotFound(detail, code="dataset_not_found") from error
