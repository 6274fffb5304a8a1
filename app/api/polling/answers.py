"""What polls are answered with: a version of a job has one body, however often it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import Response

from app.api.openapi import header, link
from app.api.recent import Recent
from app.api.schemas.jobs import JobRead
from app.jobs.state import Status

# Of rendered jobs; each is counted with what an object takes that is not its body.
KEPT_BYTES = 64 << 20
OBJECT_BYTES = 1 << 10
LINKS = {
    "GetJob": link("getJob", "job_id", "/id", "Poll it."),
    "ListEvents": link("listEvents", "job_id", "/id", "Watch it."),
    "GetResult": link("getResult", "job_id", "/id", "When it has succeeded."),
    "GetFactors": link("getFactors", "job_id", "/id", "The fitted model."),
    "CancelJob": link("cancelJob", "job_id", "/id", "Stop it."),
    "DeleteJob": link("deleteJob", "job_id", "/id", "When it is final."),
}
ETAG = {"ETag": header("The version of the job; for `If-None-Match`.")}
RETRY = {"Retry-After": header("Seconds to wait before the next poll; absent when final.")}
POLLED: dict[str, Any] = {"headers": {**ETAG, **RETRY}, "links": LINKS}


def tag_of(version: int) -> str:
    """The ETag of a version of a job."""
    return f'"{version}"'


@dataclass(frozen=True)
class Answer:
    """A rendered job."""

    version: int
    is_final: bool
    body: bytes

    @classmethod
    def of(cls, job: Any) -> Answer:
        """Render a job."""
        body = JobRead.model_validate(job).model_dump_json().encode()
        return cls(job.version, Status(job.status).is_final, body)

    def respond(self, status: int, headers: dict[str, str]) -> Response:
        """The answer as it is sent, with what its caller adds."""
        headers = {"ETag": tag_of(self.version), **headers}
        if not self.is_final:
            headers["Retry-After"] = "1"
        return Response(self.body, status, headers, "application/json")


def keep_answers() -> Recent[str, Answer]:
    """Room for the newest answers of the jobs asked for last, by the id of the job."""
    return Recent(KEPT_BYTES, lambda answer: OBJECT_BYTES + len(answer.body))
