"""How the service is: alive, ready, and which."""

from __future__ import annotations

from fastapi import APIRouter, Request
from sqlalchemy.exc import SQLAlchemyError

from app.api.deps import Services
from app.api.openapi import problems
from app.api.schemas.health import Live, Ready, Version
from app.db.migrate import is_current
from app.errors import Unavailable
from app.provenance import versions

router = APIRouter(tags=["operation"])


@router.get(
    "/livez", operation_id="getLiveness", summary="Is the process alive", responses=problems()
)
async def get_liveness() -> Live:
    """Says nothing about what it stands on."""
    return Live()


@router.get(
    "/readyz", operation_id="getReadiness", summary="Can it take requests", responses=problems()
)
def get_readiness(request: Request) -> Ready:
    """503 without a migrated database; without broker or room it is degraded."""
    services: Services = request.app.state.services
    try:
        current = is_current(services.database.engine)
    except SQLAlchemyError as error:
        raise Unavailable("the database does not answer", code="database_unavailable") from error
    if not current:
        raise Unavailable("the database is not migrated; run pith migrate", code="not_migrated")
    heard, room = services.bell.is_reachable(), services.store.has_room()
    return Ready(
        status="ok" if heard and room else "degraded",
        broker="ok" if heard else "unreachable",
        storage="ok" if room else "full",
    )


@router.get(
    "/version", operation_id="getVersion", summary="Which version is this", responses=problems()
)
async def get_version() -> Version:
    """The version of the service, and of the libraries whose arithmetic it relies on."""
    return Version(version=versions()["pith"], versions=versions())
