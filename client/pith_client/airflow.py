"""For Airflow 3: a task that selects features and holds no worker while it waits.

`pip install 'pith-client[airflow]'`. The connection has the service's address as its host, with
`http://` or `https://`, and the key as its password.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from airflow.sdk import BaseHook, BaseOperator
from airflow.triggers.base import BaseTrigger, TriggerEvent
from asgiref.sync import sync_to_async

from pith_client.aio import AsyncPith
from pith_client.blocking import Pith
from pith_client.result import Result


def _access(conn_id: str) -> dict[str, Any]:
    """Address and key of the service that a connection names."""
    connection = BaseHook.get_connection(conn_id)
    port = f":{connection.port}" if connection.port else ""
    return {"url": f"{connection.host}{port}", "key": connection.password or None}


class PithTrigger(BaseTrigger):
    """Waits for the end of a job; it knows the connection by name, not the key."""

    def __init__(self, conn_id: str, job_id: str) -> None:
        super().__init__()
        self.conn_id = conn_id
        self.job_id = job_id

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """How the triggerer makes it anew, on whichever host."""
        return f"{__name__}.PithTrigger", {"conn_id": self.conn_id, "job_id": self.job_id}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """One event, when the job is final; a triggerer that restarts waits on."""
        access = await sync_to_async(_access)(self.conn_id)
        async with AsyncPith(**access) as pith:
            job = await pith.wait(self.job_id, progress=False)
        yield TriggerEvent({"job_id": self.job_id, "status": job.status})


class PithSelectOperator(BaseOperator):
    """Select the features of a table that tell most about its target.

    `table` is a path that the worker can read, or the id of a dataset that is there (`ds_...`);
    `options` are those of a job, such as `k`, `method` or `seed`. What others pull is a dictionary:
    `job_id`, `dataset_id`, `names`, `columns`, `suggested_k`. The task fails as the job does.
    """

    template_fields: Sequence[str] = ("table", "target", "options")

    def __init__(
        self,
        *,
        table: str,
        target: str,
        options: Mapping[str, Any] | None = None,
        pith_conn_id: str = "pith_default",
        deferrable: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.table = table
        self.target = target
        self.options = dict(options or {})
        self.pith_conn_id = pith_conn_id
        self.deferrable = deferrable
        self.job_id: str | None = None

    def execute(self, context: Mapping[str, Any]) -> dict[str, Any]:
        """Upload and submit, then leave the waiting to the triggerer."""
        with Pith(**_access(self.pith_conn_id)) as pith:
            dataset_id = self.table
            if not dataset_id.startswith("ds_"):
                dataset_id = pith.upload(self.table).id
            job = pith.submit(
                dataset_id, self.target, idempotency_key=_key(context), **self.options
            )
            self.job_id = job.id
            if not self.deferrable:
                return _pulled(pith.resume(job.id, progress=False))
        self.defer(
            trigger=PithTrigger(self.pith_conn_id, job.id), method_name=self.complete.__name__
        )
        raise AssertionError("deferring leaves by an exception")

    def complete(self, context: Mapping[str, Any], event: Mapping[str, Any]) -> dict[str, Any]:
        """Read the result, or fail as the job did."""
        with Pith(**_access(self.pith_conn_id)) as pith:
            return _pulled(pith.resume(event["job_id"], progress=False))

    def on_kill(self) -> None:
        """Cancel the job of a task that is killed before it has left the waiting to others."""
        if self.job_id is not None:
            with Pith(**_access(self.pith_conn_id), patience=0) as pith:
                pith.cancel(self.job_id)


def _key(context: Mapping[str, Any]) -> str:
    """The same try finds the job that it submitted; the next one submits its own."""
    task = context["ti"]
    parts = (task.dag_id, task.task_id, task.run_id, task.map_index, task.try_number)
    return "/".join(map(str, parts)).encode("ascii", "replace").decode().replace(" ", "_")[-255:]


def _pulled(result: Result) -> dict[str, Any]:
    return {
        "job_id": result.job_id,
        "dataset_id": result.document["provenance"]["dataset"]["id"],
        "names": result.names,
        "columns": result.columns,
        "suggested_k": result.suggested_k,
    }
