"""The calls about datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from pith_client.asking import Asking
from pith_client.errors import DatasetRejected
from pith_client.models import Connection, Dataset, Document, TableWarning
from pith_client.steps import Call, Flow, Pause
from pith_client.tables import encode


class DatasetValues(TypedDict, total=False):
    """What can be changed about a dataset."""

    name: str | None
    labels: dict[str, str]


def _wishes(columns: Mapping[str, str | Document | None]) -> dict[str, Document | None]:
    return {n: {"kind": wish} if isinstance(wish, str) else wish for n, wish in columns.items()}


class DatasetCalls(Asking):
    """Upload, look at, change and delete datasets."""

    def upload(
        self,
        table: Any,
        *,
        names: Sequence[str] | None = None,
        name: str | None = None,
        delimiter: str | None = None,
        encoding: str | None = None,
        header: bool | None = None,
    ) -> Call[Dataset]:
        """Store a table; the same bytes answer the dataset that is there.

        The last three say how a CSV is to be read, where the service should not find out.
        """
        upload = encode(table, names)
        given = {"name": name, "delimiter": delimiter, "encoding": encoding, "header": header}
        response = yield from self._ask(
            "POST",
            "/v1/datasets",
            content=upload.content,
            params={**upload.params, **{n: v for n, v in given.items() if v is not None}},
            headers={"Content-Type": upload.media_type},
        )
        return Dataset.read(response.json())

    def refer(self, source: Document, *, name: str | None = None) -> Call[Dataset]:
        """Have data read where it lies: a path, a table or a query of a connection."""
        body = {"source": source, "name": name}
        response = yield from self._ask("POST", "/v1/datasets", json=body, is_repeatable=False)
        return Dataset.read(response.json())

    def refresh(self, dataset_id: str) -> Call[Dataset]:
        """Have the same source read again."""
        response = yield from self._ask("POST", f"/v1/datasets/{dataset_id}/refresh")
        return Dataset.read(response.json())

    def schema(self, source: Document) -> Call[Document]:
        """The columns of a source, and how large it is, before anything is read."""
        body = {"source": source}
        shown: Document = (yield from self._ask("POST", "/v1/datasets/schema", json=body)).json()
        return shown

    def connections(self) -> Call[list[Connection]]:
        """Where data may be read from and results be written to."""
        response = yield from self._ask("GET", "/v1/connections")
        return [Connection.read(one) for one in response.json()["connections"]]

    def dataset(self, dataset_id: str) -> Call[Dataset]:
        """Its status and, once it is ready, the profile of every column."""
        return Dataset.read((yield from self._ask("GET", f"/v1/datasets/{dataset_id}")).json())

    def ready(self, dataset_id: str) -> Call[Dataset]:
        """Wait until the dataset has been read; DatasetRejected when it cannot be used."""
        pause = 0.1
        while (dataset := (yield from self.dataset(dataset_id))).status == "processing":
            yield Pause(pause)
            pause = min(2 * pause, 2.0)
        if dataset.status == "rejected":
            raise DatasetRejected(dataset)
        return dataset

    def datasets(
        self,
        *,
        search: str | None = None,
        label: str | None = None,
        sort: str | None = None,
        page_size: int | None = None,
    ) -> Flow[Dataset]:
        """Datasets, asked for page by page as they are used.

        `search` looks into names, a label is `key=value`, `sort` is `newest`, `oldest`, `name` or
        `largest`.
        """
        wanted = {"search": search, "label": label, "sort": sort, "page_size": page_size}
        return self._pages("/v1/datasets", Dataset.read, **wanted)

    def describe_dataset(self, dataset_id: str, **values: Unpack[DatasetValues]) -> Call[Dataset]:
        """Change its `name` or its `labels`; what is left out stays."""
        response = yield from self._ask("PATCH", f"/v1/datasets/{dataset_id}", json=values)
        return Dataset.read(response.json())

    def change_columns(
        self, dataset_id: str, columns: Mapping[str, str | Document | None]
    ) -> Call[Dataset]:
        """Read columns in another way, as a new version of the dataset, which is the answer.

        For each a kind (number, category, boolean, time or ignore) or a document with `kind`,
        `decimal` and `thousands`; None leaves it to detection again.
        """
        path = f"/v1/datasets/{dataset_id}/columns"
        body = {"columns": _wishes(columns)}
        return Dataset.read((yield from self._ask("PATCH", path, json=body)).json())

    def preview_columns(
        self, dataset_id: str, columns: Mapping[str, str | Document | None]
    ) -> Call[list[Document]]:
        """Show what `change_columns` would read, from a sample of the rows."""
        path, params = f"/v1/datasets/{dataset_id}/columns", {"dry_run": "true"}
        body = {"columns": _wishes(columns)}
        response = yield from self._ask("PATCH", path, json=body, params=params)
        shown: list[Document] = response.json()["columns"]
        return shown

    def dataset_warnings(
        self, dataset_id: str, target: str | None = None
    ) -> Call[list[TableWarning]]:
        """What a sample of the rows tells about trouble ahead, also against a target."""
        params = {} if target is None else {"target": target}
        path = f"/v1/datasets/{dataset_id}/warnings"
        response = yield from self._ask("GET", path, params=params)
        return [TableWarning.read(warning) for warning in response.json()["warnings"]]

    def delete_dataset(self, dataset_id: str) -> Call[None]:
        """Delete it; Conflict while a job that is not final uses it."""
        yield from self._ask("DELETE", f"/v1/datasets/{dataset_id}", is_repeatable=False)
