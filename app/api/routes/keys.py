"""Routes of keys: those of the caller's own tenant, for callers with the scope `admin`."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Response
from sqlalchemy.orm import Session

from app.api.deps import CallerDep, KeyId, require_json
from app.api.openapi import header, problems
from app.api.schemas.keys import KeyCreate, KeyCreated, KeyList, KeyRead
from app.db.base import AnyRow
from app.keys import service

router = APIRouter(prefix="/v1/keys", tags=["keys"])

CREATED: dict[int | str, dict[str, Any]] = {201: {"headers": {"Location": header("The key.")}}}


@router.post(
    "",
    operation_id="createKey",
    status_code=201,
    summary="Make a key",
    dependencies=[Depends(require_json)],
    responses={**problems(400, 413, 415), **CREATED},
)
def create_key(body: KeyCreate, caller: CallerDep, response: Response) -> KeyCreated:
    """For the caller's tenant; the key is in this answer and nowhere else."""
    secret = caller.services.keyring.secret

    def create(session: Session, tenant: str) -> tuple[str, AnyRow]:
        scopes = set(body.scopes)
        return service.create_key(session, secret, tenant, scopes, body.days, body.name)

    token, row = caller.write(create)
    response.headers["Location"] = f"/v1/keys/{row.id}"
    return KeyCreated.model_validate({**row._mapping, "key": token})


@router.get("", operation_id="listKeys", summary="List keys", responses=problems())
def list_keys(caller: CallerDep) -> KeyList:
    """All of the tenant, with those that are over."""
    rows = caller.read(service.list_keys)
    return KeyList(items=[KeyRead.model_validate(row) for row in rows])


@router.delete(
    "/{key_id}",
    operation_id="revokeKey",
    summary="Revoke a key",
    status_code=204,
    responses=problems(404),
)
def revoke_key(key_id: KeyId, caller: CallerDep) -> None:
    """It stops working within a second."""

    def revoke(session: Session, tenant: str) -> None:
        service.revoke_key(session, key_id, tenant)

    caller.write(revoke)
