"""Every call of the API, without input or output; `Pith` and `AsyncPith` run them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar, Unpack
from uuid import uuid4

import httpx

from pith_client.errors import STOPPED, DatasetRejected, PithError
from pith_client.models import Dataset, Document, Event, FittedModel, Job, JobSummary, Method
from pith_client.progress import Progress, showing
from pith_client.result import Result
from pith_client.specification import JobOptions, specification
from pith_client.steps import Call, Flow, Item, Pause, Request, exchange, retry_after
from pith_client.tables import encode, names_of

T = TypeVar("T")

INTERRUPTS = (KeyboardInterrupt, asyncio.CancelledError)
HOLD = {"Prefer": "wait=30"}
FACTORS = {
    ".json": "application/json",
    ".npz": "application/x-npz",
    ".arrows": "application/vnd.apache.arrow.stream",
}


class Api:
    """The calls; `patience` is how many seconds of pauses one request may cost."""

    def __init__(self, patience: float) -> None:
        self.patience = patience

    def _ask(self, method: str, path: str, **parts: Any) -> Call[httpx.Response]:
        return exchange(Request(method=method, path=path, **parts), self.patience)

    def _pages(self, path: str, read: Callable[[Document], T], **query: Any) -> Flow[T]:
        params = {name: value for name, value in query.items() if value is not None}
        while True:
            page = (yield from self._ask("GET", path, params=params)).json()
            for item in page["items"]:
                yield Item(read(item))
            if page["next_page_token"] is None:
                return
            params["page_token"] = page["next_page_token"]

    # The whole way

    def select(
        self,
        table: Any,
        target: str,
        *,
        names: Sequence[str] | None = None,
        idempotency_key: str | None = None,
        progress: Progress = None,
        **options: Unpack[JobOptions],
    ) -> Call[Result]:
        """Upload, submit, wait, and give the result; an interrupt cancels the job.

        `table` is a path, a frame of pandas or polars, an Arrow table, a numpy array with the
        `names` of its columns, or a dataset that is there. The same bytes are kept once. With an
        `idempotency_key` of your own, the same call again finds the job that is there.
        """
        dataset = table
        if not isinstance(table, Dataset):
            dataset = yield from self.upload(table, names=names)
        body = specification(dataset.id, target, options)
        key = idempotency_key or uuid4().hex
        job_id = None
        try:
            job_id = (yield from self._submit(body, key)).id
            result = yield from self._finish(job_id, progress)
        except INTERRUPTS:
            yield from self._give_up(job_id, body, key)
            raise
        result.input_names = names_of(table, names)
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

    # Datasets

    def upload(
        self,
        table: Any,
        *,
        names: Sequence[str] | None = None,
        name: str | None = None,
        delimiter: str | None = None,
        encoding: str | None = None,
        header: bool | None = None,
    ) -> Call[Dataset]:
        """Store a table; the same bytes answer the dataset that is there.

        The last three say how a CSV is to be read, where the service should not find out.
        """
        upload = encode(table, names)
        given = {"name": name, "delimiter": delimiter, "encoding": encoding, "header": header}
        response = yield from self._ask(
            "POST",
            "/v1/datasets",
            content=upload.content,
            params={**upload.params, **{n: v for n, v in given.items() if v is not None}},
            headers={"Content-Type": upload.media_type},
        )
        return Dataset.read(response.json())

    def dataset(self, dataset_id: str) -> Call[Dataset]:
        """Its status and, once it is ready, the profile of every column."""
        return Dataset.read((yield from self._ask("GET", f"/v1/datasets/{dataset_id}")).json())

    def ready(self, dataset_id: str) -> Call[Dataset]:
        """Wait until the dataset has been read; DatasetRejected when it cannot be used."""
        pause = 0.1
        while (dataset := (yield from self.dataset(dataset_id))).status == "processing":
            yield Pause(pause)
            pause = min(2 * pause, 2.0)
        if dataset.status == "rejected":
            raise DatasetRejected(dataset)
        return dataset

    def datasets(self, *, page_size: int | None = None) -> Flow[Dataset]:
        """All datasets, newest first; asked for page by page as they are used."""
        return self._pages("/v1/datasets", Dataset.read, page_size=page_size)

    def delete_dataset(self, dataset_id: str) -> Call[None]:
        """Delete it; Conflict while a job that is not final uses it."""
        yield from self._ask("DELETE", f"/v1/datasets/{dataset_id}", is_repeatable=False)

    # Jobs

    def submit(
        self,
        dataset_id: str,
        target: str,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[JobOptions],
    ) -> Call[Job]:
        """Submit a job and do not wait for it; see `wait`, `resume` and `result`."""
        body = specification(dataset_id, target, options)
        return self._submit(body, idempotency_key or uuid4().hex)

    def _submit(self, body: dict[str, Any], key: str) -> Call[Job]:
        headers = {"Idempotency-Key": key}
        response = yield from self._ask("POST", "/v1/jobs", json=body, headers=headers)
        return Job.read(response.json())

    def validate(
        self, dataset_id: str, target: str, **options: Unpack[JobOptions]
    ) -> Call[dict[str, Any]]:
        """Check and complete a specification without submitting it."""
        body = specification(dataset_id, target, options)
        params = {"validate_only": "true"}
        response = yield from self._ask("POST", "/v1/jobs", json=body, params=params)
        completed: dict[str, Any] = response.json()
        return completed

    def job(self, job_id: str) -> Call[Job]:
        """The job as it is."""
        return Job.read((yield from self._ask("GET", f"/v1/jobs/{job_id}")).json())

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

    def _changed(self, job_id: str, etag: str | None) -> Call[httpx.Response]:
        """The job at once or, when a version of it is known, as soon as there is another."""
        headers = {**HOLD, "If-None-Match": etag} if etag else {}
        response = yield from self._ask("GET", f"/v1/jobs/{job_id}", headers=headers)
        if etag and "preference-applied" not in response.headers:  # something on the way dropped it
            yield Pause(retry_after(response) or 1.0)
        return response

    def jobs(
        self,
        *,
        status: str | None = None,
        dataset_id: str | None = None,
        label: str | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        page_size: int | None = None,
    ) -> Flow[JobSummary]:
        """Jobs, newest first; a label is `key=value`, times have a zone."""
        return self._pages(
            "/v1/jobs",
            JobSummary.read,
            status=status,
            dataset_id=dataset_id,
            label=label,
            created_after=created_after and created_after.isoformat(),
            created_before=created_before and created_before.isoformat(),
            page_size=page_size,
        )

    def cancel(self, job_id: str) -> Call[Job]:
        """Stop a job; one that is final answers as it is."""
        return Job.read((yield from self._ask("POST", f"/v1/jobs/{job_id}/cancel")).json())

    def delete_job(self, job_id: str) -> Call[None]:
        """Delete a final job with its events and its result."""
        yield from self._ask("DELETE", f"/v1/jobs/{job_id}", is_repeatable=False)

    # What a job leaves

    def result(self, job_id: str) -> Call[Result]:
        """What the job found; Conflict while there is nothing."""
        response = yield from self._ask("GET", f"/v1/jobs/{job_id}/result")
        return Result(job_id, response.json())

    def events(self, job_id: str, *, follow: bool = False) -> Flow[Event]:
        """What happened so far or, when followed, until the job is final."""
        last, etag = 0, None
        while True:
            is_final = True
            if follow:
                response = yield from self._changed(job_id, etag)
                etag = response.headers.get("etag")
                is_final = response.status_code == 200 and Job.read(response.json()).is_final
            for event in (yield from self._events_after(job_id, last)):
                yield Item(event)
                last = event.seq
            if is_final:
                return

    def _events_after(self, job_id: str, last: int) -> Call[list[Event]]:
        events: list[Event] = []
        while True:
            headers = {"Last-Event-ID": str(events[-1].seq if events else last)}
            response = yield from self._ask("GET", f"/v1/jobs/{job_id}/events", headers=headers)
            page = response.json()
            events += [Event.read(event) for event in page["items"]]
            if page["next_page_token"] is None or not page["items"]:
                return events

    def factors(self, job_id: str) -> Call[list[FittedModel]]:
        """The fitted models, for methods that fit one."""
        response = yield from self._ask("GET", f"/v1/jobs/{job_id}/factors")
        return [FittedModel.read(model) for model in response.json()["models"]]

    def download_factors(self, job_id: str, path: str | Path) -> Call[Path]:
        """Write the fitted models to a file; its ending, .json, .npz or .arrows, says how."""
        path = Path(path)
        if path.suffix not in FACTORS:
            raise ValueError(f"{path.name} must end in one of {', '.join(FACTORS)}")
        headers = {"Accept": FACTORS[path.suffix]}
        response = yield from self._ask("GET", f"/v1/jobs/{job_id}/factors", headers=headers)
        path.write_bytes(response.content)
        return path

    def download_report(
        self, job_id: str, path: str | Path, *, pixel_width: int | None = None
    ) -> Call[Path]:
        """Write the report, one HTML file with pictures and provenance.

        Columns that are the pixels of an image are drawn `pixel_width` wide.
        """
        params = {} if pixel_width is None else {"pixel_width": pixel_width}
        response = yield from self._ask("GET", f"/v1/jobs/{job_id}/report", params=params)
        Path(path).write_bytes(response.content)
        return Path(path)

    def charts(self, job_id: str, *, pixel_width: int | None = None) -> Call[dict[str, Any]]:
        """What the result says in sentences, and every picture of it as SVG with its data."""
        params = {} if pixel_width is None else {"pixel_width": pixel_width}
        response = yield from self._ask("GET", f"/v1/jobs/{job_id}/charts", params=params)
        charts: dict[str, Any] = response.json()
        return charts

    def methods(self) -> Call[list[Method]]:
        """Every method with its parameters and their limits."""
        response = yield from self._ask("GET", "/v1/methods")
        return [Method.read(method) for method in response.json()["methods"]]
