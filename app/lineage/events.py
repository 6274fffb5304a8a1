"""Runs as OpenLineage tells of them: which columns of which data went into what.

A run is one job, and has its id. Jobs without a title are called by their target, so that the same
question asked of new data is one job with many runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.db.base import AnyRow
from app.provenance import versions

PRODUCER = "https://pypi.org/project/pith"
SPEC = "https://openlineage.io/spec"
EVENT = f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"
ENDS = {"succeeded": "COMPLETE", "failed": "FAIL", "expired": "FAIL", "cancelled": "ABORT"}
START = "START"
Json = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """One job as a run: whose, by which name, on which dataset; `namespace` is the service's."""

    namespace: str
    job_id: str
    name: str
    dataset: str
    target: str

    @classmethod
    def of(cls, namespace: str, job: AnyRow) -> Run:
        """That of a row, by what never changes of it."""
        asked = job.specification
        name = f"{job.tenant}/{asked.get('title') or asked['target']}"
        return cls(namespace, job.id, name, f"{job.tenant}/{job.dataset_id}", asked["target"])

    def started(self, time: datetime, input_facets: Json) -> Json:
        """It has begun to read its data."""
        engine = {"name": "Pith", "version": versions()["pith"]}
        facets = {"processing_engine": _facet("ProcessingEngineRunFacet", "1-1-1", engine)}
        return self._event(START, time, facets, input_facets, [])

    def ended(
        self, status: str, time: datetime, error: Mapping[str, Any] | None, outputs: Sequence[Json]
    ) -> Json:
        """It is over."""
        facets = {}
        if error is not None:
            words = {"message": error["message"], "programmingLanguage": "Python"}
            facets["errorMessage"] = _facet("ErrorMessageRunFacet", "1-0-1", words)
        return self._event(ENDS[status], time, facets, {}, outputs)

    def output(self, chosen: Mapping[str, str]) -> Json:
        """The reduced table: each chosen feature of the column it is made of, and the target."""
        fields = {name: [self._from(name, source)] for name, source in chosen.items()}
        fields[self.target] = [self._from(self.target, self.target)]
        by_target = self._input(self.target, {"type": "INDIRECT", "subtype": "FILTER"})
        lineage = {
            "fields": {name: {"inputFields": inputs} for name, inputs in fields.items()},
            "dataset": [by_target],
        }
        version = {"datasetVersion": self.job_id}
        facets = {
            "columnLineage": _facet("ColumnLineageDatasetFacet", "1-2-0", lineage),
            "version": _facet("DatasetVersionDatasetFacet", "1-0-1", version),
        }
        return {"namespace": self.namespace, "name": f"{self.name}/selected", "facets": facets}

    def _from(self, name: str, source: str) -> Json:
        subtype = "IDENTITY" if name == source else "TRANSFORMATION"
        return self._input(source, {"type": "DIRECT", "subtype": subtype})

    def _input(self, field: str, how: Json) -> Json:
        where = {"namespace": self.namespace, "name": self.dataset, "field": field}
        return {**where, "transformations": [how]}

    def _event(
        self, kind: str, time: datetime, facets: Json, input_facets: Json, outputs: Sequence[Json]
    ) -> Json:
        of_kind = {"processingType": "BATCH", "integration": "PITH", "jobType": "JOB"}
        job_facets = {"jobType": _facet("JobTypeJobFacet", "2-0-4", of_kind)}
        read = {"namespace": self.namespace, "name": self.dataset, "facets": input_facets}
        return {
            "eventType": kind,
            "eventTime": time.isoformat(),
            "producer": PRODUCER,
            "schemaURL": EVENT,
            "run": {"runId": str(UUID(self.job_id.removeprefix("job_"))), "facets": facets},
            "job": {"namespace": self.namespace, "name": self.name, "facets": job_facets},
            "inputs": [read],
            "outputs": list(outputs),
        }


def input_facets(
    dataset: AnyRow, columns: Iterable[Mapping[str, Any]], source: Json | None
) -> Json:
    """What is known of the data: its columns, its hash and, by reference, where it lies."""
    fields = [{"name": column["name"], "type": column["kind"]} for column in columns]
    facets = {
        "schema": _facet("SchemaDatasetFacet", "1-2-0", {"fields": fields}),
        "version": _facet(
            "DatasetVersionDatasetFacet", "1-0-1", {"datasetVersion": dataset.sha256}
        ),
    }
    if source is not None:
        same = {"identifiers": [source]}
        facets["symlinks"] = _facet("SymlinksDatasetFacet", "1-0-1", same)
    return facets


def _facet(name: str, version: str, content: Mapping[str, Any]) -> Json:
    schema = f"{SPEC}/facets/{version}/{name}.json#/$defs/{name}"
    return {"_producer": PRODUCER, "_schemaURL": schema, **content}
