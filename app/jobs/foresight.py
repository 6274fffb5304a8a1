"""Whether a job can run, and what it will take, told before it is submitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.capacity import Capacity
from app.datasets import repository as datasets
from app.datasets.models import DatasetStatus
from app.db.base import AnyRow, Reader
from app.errors import FieldError, Invalid
from app.jobs.costs import Estimate, estimate
from app.jobs.memory import engine_for
from app.jobs.specification import Specification, check_columns


def validate(
    session: Reader, tenant: str, specification: Specification, capacity: Capacity | None = None
) -> None:
    """Refuse what cannot run; `capacity` is what a job can run on.

    Takes time with the columns, and no locks: a dataset that is ready does not change.
    """
    profile = _profile(session, tenant, specification.dataset_id)
    if profile is not None:
        _check(specification, *profile, capacity)


def foresee(
    session: Reader, tenant: str, specification: Specification, capacity: Capacity
) -> Estimate | None:
    """What a job will take, or Invalid where it cannot run; None while its dataset is read."""
    profile = _profile(session, tenant, specification.dataset_id)
    if profile is None:
        return None
    _check(specification, *profile, capacity)
    return estimate(session, specification, *profile, capacity)


def _profile(
    session: Reader, tenant: str, dataset_id: str
) -> tuple[int, Sequence[Mapping[str, Any]]] | None:
    dataset = usable(datasets.read(session, tenant, dataset_id), dataset_id)
    if dataset.status != DatasetStatus.READY:
        return None
    return dataset.n_rows, datasets.read_columns(session, dataset_id)


def _check(
    specification: Specification,
    n_rows: int,
    columns: Sequence[Mapping[str, Any]],
    capacity: Capacity | None,
) -> None:
    check_columns(specification, columns)
    if capacity is not None:
        engine_for(specification, n_rows, columns, capacity)


def usable(dataset: AnyRow | None, dataset_id: str) -> AnyRow:
    """The dataset, unless there is none or it was rejected."""
    if dataset is None:
        detail = f"there is no dataset {dataset_id}"
        raise Invalid(detail, code="unknown_dataset", errors=[FieldError("/dataset_id", detail)])
    if dataset.status == DatasetStatus.REJECTED:
        detail = f"the dataset was rejected: {dataset.reason}"
        raise Invalid(detail, code="dataset_rejected", errors=[FieldError("/dataset_id", detail)])
    return dataset
