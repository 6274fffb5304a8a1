"""Python client of Pith: `Pith(url, key).select(table, "target", k=20)`."""

from pith_client.aio import AsyncPith
from pith_client.blocking import Pith
from pith_client.errors import (
    ApiError,
    BadField,
    Conflict,
    DatasetRejected,
    Invalid,
    JobCancelled,
    JobExpired,
    JobFailed,
    JobStopped,
    NotFound,
    PithError,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    Unreachable,
)
from pith_client.models import (
    Column,
    Dataset,
    Event,
    Factor,
    FittedModel,
    Job,
    JobError,
    Method,
    Selected,
)
from pith_client.result import Result

__all__ = [
    "ApiError",
    "AsyncPith",
    "BadField",
    "Column",
    "Conflict",
    "Dataset",
    "DatasetRejected",
    "Event",
    "Factor",
    "FittedModel",
    "Invalid",
    "Job",
    "JobCancelled",
    "JobError",
    "JobExpired",
    "JobFailed",
    "JobStopped",
    "Method",
    "NotFound",
    "Pith",
    "PithError",
    "Result",
    "Selected",
    "TooManyRequests",
    "Unauthorized",
    "Unavailable",
    "Unreachable",
]
