"""The route of connections."""

from __future__ import annotations

from fastapi import APIRouter

from app.api.deps import CallerDep
from app.api.openapi import problems
from app.api.schemas.connections import ConnectionList, ConnectionRead

router = APIRouter(prefix="/v1/connections", tags=["datasets"])


@router.get(
    "",
    operation_id="listConnections",
    summary="List connections",
    response_model=ConnectionList,
    responses=problems(),
)
def list_connections(caller: CallerDep) -> ConnectionList:
    """Where an operator allows data to be read from by reference."""
    found = caller.services.connections.of(caller.tenant)
    shown = [ConnectionRead(name=name, **one.model_dump()) for name, one in sorted(found.items())]
    return ConnectionList(connections=shown)
