"""A dataset read again, with other wishes for its columns, as a new version of itself."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.broker import Bell
from app.datasets import repository
from app.datasets.formats import CsvOptions, Format, Wish
from app.datasets.keys import RAW, key_of
from app.datasets.models import DatasetStatus
from app.datasets.reservations import measure
from app.datasets.service import Upload, get_dataset, register
from app.db.base import AnyRow, Reader, new_id
from app.db.tenants import TenantDatabase
from app.errors import Conflict, FieldError, Invalid, pointer
from app.quota import Quota
from app.store.base import Store

Wishes = Mapping[str, Wish | None]


def read_again(
    database: TenantDatabase,
    tenant: str,
    bell: Bell,
    store: Store,
    quota: Quota,
    dataset_id: str,
    wishes: Wishes,
) -> tuple[AnyRow, bool]:
    """The dataset with these wishes beside its own; the answer tells whether it is new."""
    row, options = database.read_again(
        tenant, lambda session: wished(session, tenant, dataset_id, wishes)
    )
    upload = Upload(
        dataset_id=new_id("ds"),
        name=row.name,
        format=Format(row.format),
        options=options,
        sha256=row.sha256,
        n_bytes=row.n_bytes,
        version=row.version + 1,
        previous_id=row.id,
        labels=row.labels,
    )
    with database.write(tenant) as session:
        with session.begin():
            known = repository.find_by_content(session, tenant, upload.content_key)
            if known is None:
                quota.room_for(upload.n_bytes, *measure(session, tenant))
        if known is not None:
            return known, False
    _copy(store, key_of(tenant, row.id, RAW), key_of(tenant, upload.dataset_id, RAW))
    with database.write(tenant) as session:
        return register(session, tenant, bell, store, upload, quota)


def wished(
    session: Reader, tenant: str, dataset_id: str, wishes: Wishes
) -> tuple[AnyRow, CsvOptions]:
    """The dataset and how it is to be read; Invalid if it has no such column."""
    row, columns = get_dataset(session, tenant, dataset_id)
    if row.status != DatasetStatus.READY:
        raise Conflict(f"the dataset is {row.status}", code="dataset_not_ready")
    if row.source is not None:
        detail = "the dataset was read by reference, and its bytes are not kept to be read again"
        raise Conflict(detail, code="read_by_reference")
    options = CsvOptions.of(row.options)
    known = {column["name"] for column in columns} | set(options.columns)
    unknown = [name for name in wishes if name not in known]
    if unknown:
        detail = f"the dataset has no column {unknown[0]!r}"
        errors = [FieldError(pointer(["columns", name]), detail) for name in unknown[:1]]
        raise Invalid(detail, code="unknown_column", errors=errors)
    _require_two(known, options, wishes)
    return row, replace(options, columns=_merged(options.columns, wishes))


def _merged(old: Mapping[str, Wish], new: Wishes) -> dict[str, Wish]:
    merged = {**old, **new}
    return {name: wish for name, wish in sorted(merged.items()) if wish is not None}


def _require_two(known: set[str], options: CsvOptions, wishes: Wishes) -> None:
    merged = _merged(options.columns, wishes)
    ignored = [name for name, wish in merged.items() if wish.kind == "ignore"]
    if len(known) - len(ignored) < 2:
        detail = "fewer than two columns would be left: a target and a feature are needed"
        raise Invalid(detail, errors=[FieldError("/columns", detail)])


def ignored_columns(options: Mapping[str, Any]) -> list[str]:
    """The columns of the file that are left out at somebody's wish."""
    wishes = CsvOptions.of(options).columns
    return [name for name, wish in wishes.items() if wish.kind == "ignore"]


def _copy(store: Store, source: str, target: str) -> None:
    with store.open(source) as file, store.put(target) as copy:
        shutil.copyfileobj(file, copy, 1 << 20)
