"""What receivers of webhooks are told of a job that has ended."""

from __future__ import annotations

from app.db.base import AnyRow
from app.webhooks.events import News

TOLD = (
    "id",
    "status",
    "partial",
    "dataset_id",
    "labels",
    "error",
    "created_at",
    "started_at",
    "finished_at",
)


def news_of(row: AnyRow) -> News:
    """The end of a job, for those who asked and for the address that the job named."""
    here = f"/v1/jobs/{row.id}"
    told = {name: row._mapping[name] for name in TOLD}
    links = {"self": here, "result": f"{here}/result"}
    return News(
        tenant=row.tenant,
        kind=f"job.{row.status}",
        source="/v1/jobs",
        subject=row.id,
        time=row.finished_at,
        data={**told, "attempts": row.attempt, "links": links},
        labels=row.labels,
        notify=row.specification.get("notify"),
        trace=row.trace,
    )
