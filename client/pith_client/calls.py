"""Every call of the API, without input or output; `Pith` and `AsyncPith` run them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, TypedDict, Unpack
from uuid import uuid4

import httpx

from pith_client.admin import AdminCalls
from pith_client.datasets import DatasetCalls
from pith_client.errors import STOPPED, Invalid, PithError
from pith_client.models import Dataset, Estimate, Job, JobSummary, Method
from pith_client.outcomes import Outcomes
from pith_client.progress import Progress, showing
from pith_client.result import Result
from pith_client.specification import JobOptions, specification
from pith_client.steps import Call, Flow
from pith_client.tables import library_of, name_of, names_of
from pith_client.webhooks import WebhookCalls

INTERRUPTS = (KeyboardInterrupt, asyncio.CancelledError)


class JobValues(TypedDict, total=False):
    """What can be changed about a job."""

    title: str | None
    labels: dict[str, str]


class Api(DatasetCalls, Outcomes, WebhookCalls, AdminCalls):
    """Every call."""

    # The whole way

    def select(
        self,
        table: Any = None,
        target: Any = "",
        *,
        names: Sequence[str] | None = None,
        idempotency_key: str | None = None,
        progress: Progress = None,
        **options: Unpack[JobOptions],
    ) -> Call[Result]:
        """Upload, submit, wait, and give the result; an interrupt cancels the job.

        `table` is a path, a frame of pandas or polars, an Arrow table, a numpy array with the
        `names` of its columns, or a dataset that is there. The same bytes are kept once. `target`
        is the name of a column, or that column of the table. With an `idempotency_key` of your own,
        the same call again finds the job that is there. With a `source` there is no table: the
        service reads it where it lies.
        """
        if (table is None) == ("source" not in options):
            raise TypeError("give either a table or a source")
        dataset = table
        if table is not None and not isinstance(table, Dataset):
            dataset = yield from self.upload(table, names=names)
        body = specification(dataset and dataset.id, name_of(target), options)
        key = idempotency_key or uuid4().hex
        job_id = None
        try:
            job_id = (yield from self._submit(body, key)).id
            result = yield from self._finish(job_id, progress)
        except INTERRUPTS:
            yield from self._give_up(job_id, body, key)
            raise
        result.input_names = names_of(table, names)
        result.input_library = library_of(table)
        return result

    def _give_up(self, job_id: str | None, body: dict[str, Any], key: str) -> Call[None]:
        """Cancel, without patience; whether the submission arrived, its key tells."""
        impatient = Api(patience=0)
        with suppress(PithError):
            if job_id is None:
                job_id = (yield from impatient._submit(body, key)).id
            yield from impatient.cancel(job_id)

    def resume(self, job_id: str, *, progress: Progress = None) -> Call[Result]:
        """Wait for a job that was submitted before, here or elsewhere; an interrupt cancels it."""
        try:
            return (yield from self._finish(job_id, progress))
        except INTERRUPTS:
            with suppress(PithError):
                yield from Api(patience=0).cancel(job_id)
            raise

    def _finish(self, job_id: str, progress: Progress) -> Call[Result]:
        job = yield from self.wait(job_id, progress=progress)
        if job.status in STOPPED:
            raise STOPPED[job.status](job)
        return (yield from self.result(job_id))

    # Jobs

    def submit(
        self,
        dataset_id: str | None,
        target: str,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[JobOptions],
    ) -> Call[Job]:
        """Submit a job and do not wait for it; see `wait`, `resume` and `result`.

        With a `source` the dataset is None.
        """
        body = specification(dataset_id, target, options)
        return self._submit(body, idempotency_key or uuid4().hex)

    def _submit(self, body: dict[str, Any], key: str) -> Call[Job]:
        headers = {"Idempotency-Key": key}
        response = yield from self._ask("POST", "/v1/jobs", json=body, headers=headers)
        return Job.read(response.json())

    def validate(
        self, dataset_id: str | None, target: str, **options: Unpack[JobOptions]
    ) -> Call[dict[str, Any]]:
        """Check and complete a specification without submitting it."""
        body = specification(dataset_id, target, options)
        params = {"validate_only": "true"}
        response = yield from self._ask("POST", "/v1/jobs", json=body, params=params)
        completed: dict[str, Any] = response.json()
        return completed

    def estimate(
        self, dataset_id: str, target: str, **options: Unpack[JobOptions]
    ) -> Call[Estimate | None]:
        """What a job would take, without submitting it; None while its dataset is read."""
        body = specification(dataset_id, target, options)
        found = (yield from self._ask("POST", "/v1/jobs/check", json=body)).json()
        if not found["valid"]:
            raise Invalid(found["problem"]["status"], found["problem"])
        return Estimate.read(found["estimate"]) if found["estimate"] else None

    def job(self, job_id: str) -> Call[Job]:
        """The job as it is."""
        return Job.read((yield from self._ask("GET", f"/v1/jobs/{job_id}")).json())

    def place(self, job_id: str) -> Call[int | None]:
        """Which of your queued jobs it is, from 1; None when it waits no longer."""
        answer = yield from self._ask("GET", f"/v1/jobs/{job_id}/place")
        position: int | None = answer.json()["position"]
        return position

    def wait(self, job_id: str, *, progress: Progress = None) -> Call[Job]:
        """Wait until the job is final, however it ends; an interrupt leaves it alone."""
        with showing(progress) as show:
            etag = None
            while True:
                response = yield from self._changed(job_id, etag)
                if response.status_code != httpx.codes.NOT_MODIFIED:
                    job = Job.read(response.json())
                    show(job)
                    if job.is_final:
                        return job
                etag = response.headers.get("etag")

    def jobs(
        self,
        *,
        status: str | None = None,
        dataset_id: str | None = None,
        label: str | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        search: str | None = None,
        sort: str | None = None,
        page_size: int | None = None,
    ) -> Flow[JobSummary]:
        """Jobs; a label is `key=value`, times have a zone, `search` looks into titles and targets.

        `sort` is `newest`, `oldest` or `name`.
        """
        return self._pages(
            "/v1/jobs",
            JobSummary.read,
            status=status,
            dataset_id=dataset_id,
            label=label,
            created_after=created_after and created_after.isoformat(),
            created_before=created_before and created_before.isoformat(),
            search=search,
            sort=sort,
            page_size=page_size,
        )

    def cancel(self, job_id: str, *, keep: bool = False) -> Call[Job]:
        """Stop a job; one that is final answers as it is.

        `keep` ends one whose features are chosen with what is done: it succeeds, and is `partial`.
        """
        params = {"keep": "true"} if keep else {}
        response = yield from self._ask("POST", f"/v1/jobs/{job_id}/cancel", params=params)
        return Job.read(response.json())

    def describe_job(self, job_id: str, **values: Unpack[JobValues]) -> Call[Job]:
        """Change its `title` or its `labels`; what is left out stays."""
        response = yield from self._ask("PATCH", f"/v1/jobs/{job_id}", json=values)
        return Job.read(response.json())

    def delete_job(self, job_id: str) -> Call[None]:
        """Delete a final job with its events and its result."""
        yield from self._ask("DELETE", f"/v1/jobs/{job_id}", is_repeatable=False)

    def usage(self) -> Call[dict[str, Any]]:
        """Jobs, seconds of work and bytes of the key's tenant, and its limits."""
        usage: dict[str, Any] = (yield from self._ask("GET", "/v1/usage")).json()
        return usage

    def methods(self) -> Call[list[Method]]:
        """Every method with its parameters and their limits."""
        response = yield from self._ask("GET", "/v1/methods")
        return [Method.read(method) for method in response.json()["methods"]]
