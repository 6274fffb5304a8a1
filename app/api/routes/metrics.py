"""Figures for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import Metric

from app import metrics
from app.api.deps import CallerDep, Services
from app.api.openapi import problems
from app.jobs import repository

router = APIRouter(tags=["operation"])


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
        age = repository.read_queue_age(session).total_seconds()
    registry = CollectorRegistry()
    registry.register(_JobCollector(list(metrics.job_metrics(counters, by_status, age))))
    return registry
