"""What is sent again, when, and how long; and that nothing is done twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from pith_client import (
    ApiError,
    Invalid,
    Pith,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    Unreachable,
)
from pith_client.steps import LONGEST_PAUSE, Pause, Request, exchange
from tests.app.running import CSV, Service

GET = Request(method="GET", path="/v1/jobs/job_1")
DELETE = Request(method="DELETE", path="/v1/jobs/job_1", is_repeatable=False)
Reply = httpx.Response | Exception


def conversation(request: Request, patience: float, reply: Callable[[int], Reply]) -> list[float]:
    """The pauses between the attempts, each answered by `reply`, until one is good."""
    call, pauses, attempt = exchange(request, patience), [], 0
    step: Any = next(call)
    try:
        while True:
            if isinstance(step, Pause):
                pauses.append(step.seconds)
                step = next(call)
                continue
            assert step is request
            answer, attempt = reply(attempt), attempt + 1
            step = call.throw(answer) if isinstance(answer, Exception) else call.send(answer)
    except StopIteration:
        return pauses


def refuse(times: int, refusal: Reply) -> Callable[[int], Reply]:
    return lambda attempt: refusal if attempt < times else httpx.Response(200)


def test_pauses_grow_with_jitter_up_to_a_limit() -> None:
    pauses = conversation(GET, 1000, refuse(8, httpx.ConnectError("refused")))
    limits = [0.5, 1, 2, 4, 8, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]
    assert all(limit / 2 <= p <= limit for p, limit in zip(pauses, limits, strict=True))
    assert pauses != conversation(GET, 1000, refuse(8, httpx.ConnectError("refused")))


@pytest.mark.parametrize("status", [429, 503])
def test_the_service_says_when_to_come_back(status: int) -> None:
    refusal = httpx.Response(status, headers={"Retry-After": "7"})
    assert conversation(GET, 1000, refuse(3, refusal)) == [7, 7, 7]
    assert conversation(DELETE, 1000, refuse(1, refusal)) == [7], "refused is not done"


def test_patience_ends() -> None:
    busy = httpx.Response(429, headers={"Retry-After": "40"}, json={"code": "rate_limited"})
    with pytest.raises(TooManyRequests) as error:
        conversation(GET, 100, refuse(9, busy))
    assert error.value.code == "rate_limited"
    with pytest.raises(Unavailable, match="the service answered 502"):
        conversation(GET, 10, refuse(99, httpx.Response(502, text="<html>")))
    with pytest.raises(Unreachable, match="did not answer /v1/jobs/job_1: refused"):
        conversation(GET, 10, refuse(99, httpx.ConnectError("refused")))


def test_mistakes_are_not_sent_again() -> None:
    with pytest.raises(Invalid):
        conversation(GET, 1000, refuse(1, httpx.Response(422)))
    with pytest.raises(ApiError):
        conversation(GET, 1000, refuse(1, httpx.Response(500)))


def test_what_must_not_happen_twice_is_sent_again_only_if_it_never_left() -> None:
    assert len(conversation(DELETE, 1000, refuse(1, httpx.ConnectError("refused")))) == 1
    with pytest.raises(Unreachable):
        conversation(DELETE, 1000, refuse(1, httpx.ReadError("reset")))


def test_the_key_is_shown_with_every_request_and_a_bad_one_is_told() -> None:
    def door(request: httpx.Request) -> httpx.Response:
        if request.headers["authorization"] == "Bearer good":
            return httpx.Response(200, json={"methods": []})
        problem = {"code": "key_invalid", "detail": "the key is not known"}
        return httpx.Response(401, json=problem)

    network = httpx.MockTransport(door)
    with Pith("http://pith", "good", transport=network) as pith:
        assert pith.methods() == []
    with (
        Pith("http://pith", "bad", transport=network) as pith,
        pytest.raises(Unauthorized) as error,
    ):
        pith.methods()
    assert (error.value.status, error.value.code) == (401, "key_invalid")
    assert str(error.value) == "the key is not known [key_invalid]"


class LosesAnswers(httpx.HTTPTransport):
    """A network on which the first answer to every kind of request is lost."""

    def __init__(self) -> None:
        super().__init__()
        self.lost: set[tuple[str, str]] = set()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        kind = request.method, request.url.path
        if kind in self.lost:
            return response
        self.lost.add(kind)
        response.close()
        raise httpx.ReadError("the answer was lost")


def test_a_lost_answer_makes_no_second_dataset_and_no_second_job(
    service: Service, tmp_path: Path
) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(CSV + b"5,6,u,x\n")
    network = LosesAnswers()
    with Pith(service.url, transport=network) as pith:
        result = pith.select(path, "y", k=2, labels={"test": "lost"})
        jobs = list(pith.jobs(label="test=lost"))
    assert {("POST", "/v1/datasets"), ("POST", "/v1/jobs")} < network.lost
    assert [job.id for job in jobs] == [result.job_id]
