"""Routes for whoever runs the service, and the list of methods."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from typing import Literal

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from pydantic import BaseModel, Field
from sqlalchemy.exc import SQLAlchemyError

from app import metrics
from app.api.deps import CallerDep, Services
from app.api.openapi import problems
from app.api.schemas import MethodList
from app.db.base import utc_now
from app.db.migrate import is_current
from app.errors import Unavailable
from app.jobs import repository
from app.jobs.methods import describe_methods

router = APIRouter(tags=["operation"])


class Live(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Ready(BaseModel):
    """What the service stands on."""

    status: Literal["ok", "degraded"] = Field(description="Degraded without the broker.")
    database: Literal["ok"] = "ok"
    broker: Literal["ok", "unreachable"]


class Version(BaseModel):
    """Which version answers."""

    name: Literal["pith"] = "pith"
    version: str


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
    """503 without a migrated database; a missing broker only delays jobs."""
    services: Services = request.app.state.services
    try:
        current = is_current(services.database.engine)
    except SQLAlchemyError as error:
        raise Unavailable("the database does not answer", code="database_unavailable") from error
    if not current:
        raise Unavailable("the database is not migrated; run pith migrate", code="not_migrated")
    if services.bell.is_reachable():
        return Ready(status="ok", broker="ok")
    return Ready(status="degraded", broker="unreachable")


@router.get(
    "/version", operation_id="getVersion", summary="Which version is this", responses=problems()
)
async def get_version() -> Version:
    """The version of the service."""
    return Version(version=version("pith"))


@router.get("/v1/methods", operation_id="listMethods", summary="Every method", responses=problems())
async def list_methods() -> MethodList:
    """Each with the JSON schema of its parameters and its limits."""
    return MethodList.model_validate({"methods": describe_methods()})


@router.get(
    "/metrics",
    operation_id="getMetrics",
    summary="Figures for Prometheus",
    response_class=Response,
    responses={
        **problems(),
        200: {
            "description": "Prometheus text.",
            "content": {"text/plain": {"schema": {"type": "string"}}},
        },
    },
)
def get_metrics(request: Request, caller: CallerDep) -> Response:
    """Requests of this process, and jobs as the database knows them."""
    body = generate_latest(request.app.state.registry) + generate_latest(_jobs(caller.services))
    return Response(body, headers={"Content-Type": CONTENT_TYPE_LATEST})


class _JobCollector:
    def __init__(self, families: Iterable[Metric]) -> None:
        self.families = families

    def collect(self) -> Iterable[Metric]:
        return self.families


def _jobs(services: Services) -> CollectorRegistry:
    with services.database.read() as session, session.begin():
        counters = metrics.read_counters(session)
        by_status = repository.count_by_status(session)
        oldest = repository.read_oldest_queued(session)
    age = (utc_now() - oldest).total_seconds() if oldest else 0.0
    registry = CollectorRegistry()
    registry.register(_JobCollector(list(metrics.job_metrics(counters, by_status, age))))
    return registry
