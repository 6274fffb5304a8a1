"""What a job leaves: its result, events, model, tables and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pith_client.asking import Asking
from pith_client.models import Event, Export, FittedModel, Job
from pith_client.result import Result
from pith_client.steps import Call, Flow, Item, Pause

FACTORS = {
    ".json": "application/json",
    ".npz": "application/x-npz",
    ".arrows": "application/vnd.apache.arrow.stream",
}

DATA = {
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
    ".arrows": "application/vnd.apache.arrow.stream",
}


class Outcomes(Asking):
    """The calls about what a job leaves."""

    def result(self, job_id: str) -> Call[Result]:
        """What the job found; Conflict while there is nothing."""
        response = yield from self._ask("GET", f"/v1/jobs/{job_id}/result")
        return Result(job_id, response.json())

    def export(self, job_id: str, connection: str, path: str, *, data: bool = False) -> Call[Job]:
        """Have the files of a result written to a folder of a connection; see `exported`.

        `{name}` and `{job_id}` in the path are filled in; `data` adds the reduced table.
        """
        body = {"connection": connection, "path": path, "data": data}
        response = yield from self._ask("POST", f"/v1/jobs/{job_id}/export", json=body)
        return Job.read(response.json())

    def exported(self, job_id: str) -> Call[Export | None]:
        """Wait until the files of a result are where they are to go, or nobody tries any more."""
        pause = 0.1
        while True:
            response = yield from self._ask("GET", f"/v1/jobs/{job_id}")
            job = Job.read(response.json())
            is_over = job.delivery is None or job.delivery.status != "pending"
            if job.is_final and is_over:
                return job.delivery
            yield Pause(pause)
            pause = min(2 * pause, 2.0)

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

    def download_data(
        self, job_id: str, path: str | Path, *, columns: str = "selected", encoded: bool = False
    ) -> Call[Path]:
        """Write the reduced table to a file; its ending, .csv, .parquet or .arrows, says how.

        `columns` are those that were "selected", and the target, or "all"; `encoded` gives the
        codes that the job computed with.
        """
        path = Path(path)
        if path.suffix not in DATA:
            raise ValueError(f"{path.name} must end in one of {', '.join(DATA)}")
        response = yield from self._ask(
            "GET",
            f"/v1/jobs/{job_id}/data",
            headers={"Accept": DATA[path.suffix]},
            params={"columns": columns, "encoded": str(encoded).lower()},
        )
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

    def difference(self, job_id: str, other_id: str) -> Call[dict[str, Any]]:
        """What changed from one job to another: data, options, features, and both curves."""
        response = yield from self._ask("GET", f"/v1/jobs/{job_id}/difference/{other_id}")
        difference: dict[str, Any] = response.json()
        return difference
