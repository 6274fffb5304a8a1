"""What can go wrong, each with a stable `code` and a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from pith_client.models import Dataset, Job


class PithError(Exception):
    """Anything that the service or the way to it refused."""

    code = "error"


class Unreachable(PithError):
    """The service could not be asked, or its answer did not arrive."""

    code = "unreachable"

    def __init__(self, path: str, error: Exception) -> None:
        super().__init__(f"the service did not answer {path}: {error or type(error).__name__}")


@dataclass(frozen=True)
class BadField:
    """A field of the request that is at fault: where, as a JSON pointer, and why."""

    pointer: str
    detail: str
    place: str = "body"


class ApiError(PithError):
    """The service answered with a problem (RFC 9457)."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = problem
        self.code = str(problem.get("code", "http_error"))
        self.detail = str(problem.get("detail", f"the service answered {status}"))
        self.request_id = str(problem.get("request_id", ""))
        self.errors = [
            BadField(e["pointer"], e["detail"], e.get("place", "body"))
            for e in problem.get("errors", ())
        ]
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        rest = [f"{e.pointer}: {e.detail}" for e in self.errors if e.detail not in self.detail]
        return "; ".join([self.detail, *rest]) + f" [{self.code}]"


class Unauthorized(ApiError):
    """No key, one that is not known, or one that may not do this."""


class NotFound(ApiError):
    """There is no such dataset or job for this key."""


class Conflict(ApiError):
    """It is there, but not in a state that allows this."""


class Invalid(ApiError):
    """A request that the service cannot read or that makes no sense to it."""


class TooManyRequests(ApiError):
    """Above a limit; the service said to come back later than patience lasted."""


class Unavailable(ApiError):
    """The service, or something it stands on, does not work now."""


_BY_STATUS: dict[int, type[ApiError]] = {
    401: Unauthorized,
    403: Unauthorized,
    404: NotFound,
    409: Conflict,
    429: TooManyRequests,
}


def problem_of(response: httpx.Response) -> ApiError:
    """The error that a response stands for."""
    try:
        problem = response.json()
    except ValueError:  # not from the service, but from something before it
        problem = None
    kind = _BY_STATUS.get(
        response.status_code, Unavailable if response.status_code >= 500 else Invalid
    )
    return kind(response.status_code, problem if isinstance(problem, dict) else {})


class DatasetRejected(PithError):
    """The file could not be read; the sentence says why."""

    code = "dataset_rejected"

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(f"{dataset.reason} [{self.code}]")
        self.dataset = dataset


class JobStopped(PithError):
    """A job that ended without a result."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.code = job.error.code if job.error else job.status
        sentence = job.error.message if job.error else f"the job was {job.status}"
        super().__init__(f"{sentence} [{self.code}, {job.id}]")


class JobFailed(JobStopped):
    """The job failed; `job.error.retryable` says whether another one can help."""


class JobCancelled(JobStopped):
    """Somebody cancelled the job."""


class JobExpired(JobStopped):
    """The job was not done by its deadline."""


STOPPED: dict[str, type[JobStopped]] = {
    "failed": JobFailed,
    "cancelled": JobCancelled,
    "expired": JobExpired,
}
