"""The figures of a tenant."""

from __future__ import annotations

from fastapi import APIRouter

from app.api.deps import CallerDep
from app.api.openapi import problems
from app.api.schemas.usage import UsageRead
from app.jobs.usage import read_usage

router = APIRouter(prefix="/v1/usage", tags=["usage"])


@router.get("", operation_id="getUsage", summary="Usage and limits", responses=problems())
def get_usage(caller: CallerDep) -> UsageRead:
    """Jobs, seconds of work and bytes of the caller's tenant, and how much it may have."""
    return UsageRead.model_validate(caller.read(read_usage, caller.services.settings))
