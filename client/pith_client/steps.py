"""Calls without input or output: generators that say what to send and are told the answer.

A call yields a `Request` and gets an `httpx.Response` or the error of the transport, yields a
`Pause` and gets nothing, and returns its value; a `Flow` also yields an `Item` for each thing that
it finds. What drives them, blocking or not, is a few lines, and everything else is written once.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

import httpx

from pith_client.errors import Unreachable, problem_of

T = TypeVar("T")

REFUSED_FOR_NOW = (429, 502, 503, 504)
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 15.0


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to send. One that can be repeated does no harm when it arrives twice."""

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    content: bytes | Path | None = None
    is_repeatable: bool = True


@dataclass(frozen=True)
class Pause:
    """Seconds to wait."""

    seconds: float


@dataclass(frozen=True)
class Item(Generic[T]):
    """One of the things that a flow finds."""

    value: T


Step: TypeAlias = Request | Pause
Call: TypeAlias = Generator[Step, Any, T]
Flow: TypeAlias = Generator[Step | Item[T], Any, None]


def exchange(request: Request, patience: float) -> Call[httpx.Response]:
    """The answer, once there is one that is not an error.

    What fails on the way or is refused only for a while is sent again after growing pauses,
    or as long as `Retry-After` says; the pauses add up to `patience` seconds at most.
    """
    paused, longest = 0.0, FIRST_PAUSE
    while True:
        try:
            response: httpx.Response = yield request
        except httpx.TransportError as error:
            never_sent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
            if not (never_sent or request.is_repeatable):
                raise Unreachable(request.path, error) from error
            failure: Exception = Unreachable(request.path, error)
            failure.__cause__ = error
            pause = random.uniform(longest / 2, longest)  # noqa: S311  jitter is no secret
        else:
            if response.status_code < 400:
                return response
            failure = problem_of(response)
            if response.status_code not in REFUSED_FOR_NOW:
                raise failure
            pause = retry_after(response) or random.uniform(longest / 2, longest)  # noqa: S311
        if paused + pause > patience:
            raise failure
        yield Pause(pause)
        paused, longest = paused + pause, min(2 * longest, LONGEST_PAUSE)


def retry_after(response: httpx.Response) -> float | None:
    """The seconds in `Retry-After`; a date there is not looked at."""
    value = response.headers.get("retry-after", "")
    return float(value) if value.isdecimal() else None
