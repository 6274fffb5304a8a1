"""Routes of a dataset's columns: what they are, and what a sample of the rows warns of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, BinaryIO

from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import JSONResponse
from pydantic import Field

from app.api.deps import Caller, CallerDep, DatasetId, require_json
from app.api.openapi import header, problems
from app.api.schemas.datasets import (
    ColumnsPatch,
    ColumnsPreview,
    DatasetSummary,
    TargetWarnings,
)
from app.datasets import service, versions
from app.datasets.formats import Wish
from app.datasets.keys import SAMPLE, key_of
from app.errors import Conflict
from app.jobs.methods import Strict
from app.jobs.specification import Name
from app.store.base import StoreAway

router = APIRouter(prefix="/v1/datasets", tags=["datasets"])


class PatchQuery(Strict):
    """Whether to do it."""

    dry_run: bool = Field(False, description="Show what would come, and change nothing.")


class WarningsQuery(Strict):
    """Against which column."""

    target: Name | None = None


@router.patch(
    "/{dataset_id}/columns",
    operation_id="changeColumns",
    summary="Read columns in another way",
    status_code=201,
    response_model=DatasetSummary,
    dependencies=[Depends(require_json)],
    responses={
        **problems(400, 404, 409, 413, 415),
        201: {
            "description": "A new version of the dataset, being read.",
            "headers": {"Location": header("The new version.")},
        },
        200: {
            "description": "With `dry_run`, what would come; else the version that is there.",
            "model": ColumnsPreview | DatasetSummary,
        },
    },
)
def change_columns(
    dataset_id: DatasetId,
    body: ColumnsPatch,
    caller: CallerDep,
    query: Annotated[PatchQuery, Query()],
) -> Response:
    """The file is read again as a new version of the dataset; this one stays as it is."""
    given = {n: None if w is None else Wish(**w.model_dump()) for n, w in body.columns.items()}
    if query.dry_run:
        caller.read(versions.wished, dataset_id, given)
        return JSONResponse({"columns": _preview(caller, dataset_id, given)})
    services = caller.services
    dataset, is_new = versions.read_again(
        caller.tenants,
        caller.tenant,
        services.bell,
        services.store,
        services.settings.quota,
        dataset_id,
        given,
    )
    body_read = DatasetSummary.model_validate(dataset).model_dump_json()
    headers = {"Location": f"/v1/datasets/{dataset.id}"}
    return Response(body_read, 201 if is_new else 200, headers, "application/json")


def _preview(caller: Caller, dataset_id: str, wishes: versions.Wishes) -> list[dict[str, object]]:
    # Polars takes a tenth of a second to load, and most processes never need it.
    from app.datasets.preview import preview  # noqa: PLC0415

    with _sample(caller, dataset_id) as file:
        return preview(file, wishes)


@router.get(
    "/{dataset_id}/warnings",
    operation_id="getDatasetWarnings",
    summary="What to beware of",
    response_model=TargetWarnings,
    responses=problems(404, 409),
)
def get_warnings(
    dataset_id: DatasetId, caller: CallerDep, query: Annotated[WarningsQuery, Query()]
) -> TargetWarnings:
    """Of the table and, if one is named, of its columns against a target; from a sample of rows."""
    # As above.
    from app.datasets.alerts import sample_warnings  # noqa: PLC0415

    row, columns = caller.read(service.get_dataset, dataset_id)
    service.require_column(columns, query.target)
    with _sample(caller, dataset_id) as file:
        n_rows, warnings = sample_warnings(file, row.n_rows, columns, query.target)
    return TargetWarnings(n_rows=n_rows, warnings=warnings)


@contextmanager
def _sample(caller: Caller, dataset_id: str) -> Iterator[BinaryIO]:
    try:
        with caller.services.store.open(key_of(caller.tenant, dataset_id, SAMPLE)) as file:
            yield file
    except StoreAway:
        raise
    except FileNotFoundError:
        detail = "there is no sample of its rows: it is not ready, or was read by an older version"
        raise Conflict(detail, code="no_sample") from None
