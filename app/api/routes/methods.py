"""Every method that a job may name."""

from __future__ import annotations

from fastapi import APIRouter

from app.api.openapi import problems
from app.api.schemas.methods import MethodList
from app.jobs.methods import describe_methods

router = APIRouter(tags=["operation"])


@router.get("/v1/methods", operation_id="listMethods", summary="Every method", responses=problems())
async def list_methods() -> MethodList:
    """Each with the JSON schema of its parameters and its limits."""
    return MethodList.model_validate({"methods": describe_methods()})
