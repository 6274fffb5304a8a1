"""Figures for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import Metric

from app import metrics
from app.api.deps import CallerDep, Services
from app.api.openapi import problems
from app.jobs import repository

router = APIRouter(tags=["operation"])


TEXT: dict[int | str, dict[str, Any]] = {
    **problems(),
    200: {
        "description": "Prometheus text.",
        "content": {"text/plain": {"schema": {"type": "string"}}},
    },
}


@router.get(
    "/metrics",
    operation_id="getMetrics",
    summary="Figures of this process",
    response_class=Response,
    responses=TEXT,
)
def get_metrics(request: Request, caller: CallerDep) -> Response:
    """Requests, for Prometheus; to be asked of every process and added up."""
    return _rendered(request.app.state.registry)


@router.get(
    "/metrics/service",
    operation_id="getServiceMetrics",
    summary="Figures of the whole service",
    response_class=Response,
    responses=TEXT,
)
def get_service_metrics(caller: CallerDep) -> Response:
    """Jobs as the database knows them; every process says the same, so ask one of them."""
    return _rendered(_jobs(caller.services))


def _rendered(registry: CollectorRegistry) -> Response:
    return Response(generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})


class _JobCollector:
    def __init__(self, families: Iterable[Metric]) -> None:
        self.families = families

    def collect(self) -> Iterable[Metric]:
        return self.families


def _jobs(services: Services) -> CollectorRegistry:
    with services.database.read() as session, session.begin():
        counters = metrics.read_counters(session)
        by_status = repository.count_by_status(session)
        age = repository.read_queue_age(session).total_seconds()
    registry = CollectorRegistry()
    registry.register(_JobCollector(list(metrics.job_metrics(counters, by_status, age))))
    return registry
