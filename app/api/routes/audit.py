"""The audit of the caller's tenant, for callers with the scope `admin`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from app.api import paging
from app.api.deps import CallerDep
from app.api.openapi import problems
from app.api.schemas.audit import AuditLineRead, AuditPage
from app.audit import lines
from app.audit.models import Action

router = APIRouter(prefix="/v1/audit", tags=["audit"])


class AuditQuery(paging.PageQuery):
    """Which lines."""

    actor: paging.Search | None = Field(None, description="Id of a key, or a subject.")
    object_id: paging.Search | None = Field(None, description="Of the row that was changed.")
    action: Action | None = None
    created_after: paging.Moment | None = None
    created_before: paging.Moment | None = None


@router.get("", operation_id="listAudit", summary="Who changed what", responses=problems())
def list_audit(caller: CallerDep, query: Annotated[AuditQuery, Query()]) -> AuditPage:
    """Every change of what is the tenant's, newest first; lines are added and never changed."""
    wanted = lines.Wanted(
        **query.model_dump(exclude={"page_size", "page_token"}),
    )
    after = paging.decode_row(query.page_token)
    rows = caller.read(lines.list_lines, wanted, after, query.page_size + 1)
    return AuditPage(
        items=[AuditLineRead.model_validate(row) for row in rows[: query.page_size]],
        next_page_token=paging.token_after(rows, query.page_size),
    )
