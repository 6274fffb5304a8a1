"""The client that blocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial, wraps
from inspect import GEN_CLOSED, getgeneratorstate
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx

from pith_client.calls import Api
from pith_client.result import Result
from pith_client.steps import Call, Flow, Item, Request, Step
from pith_client.transport import client_options, request_parts

P = ParamSpec("P")
T = TypeVar("T")


def _blocking(
    call: Callable[Concatenate[Api, P], Call[T]],
) -> Callable[Concatenate[Pith, P], T]:
    @wraps(call)
    def method(self: Pith, /, *args: P.args, **kwargs: P.kwargs) -> T:
        value = self._run(call(self._api, *args, **kwargs))
        if isinstance(value, Result):
            value.write_report = partial(self.download_report, value.job_id)
        return value

    return method


def _iterating(
    flow: Callable[Concatenate[Api, P], Flow[T]],
) -> Callable[Concatenate[Pith, P], Iterator[T]]:
    @wraps(flow)
    def method(self: Pith, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return self._iterate(flow(self._api, *args, **kwargs))

    return method


class Pith:
    """A service at `url`; `key` is its API key, where it asks for one.

    `patience` is how many seconds of pauses a request may cost while the service is away or asks
    to come back later. Further options, such as `verify` or `proxy`, are those of `httpx.Client`.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        key: str | None = None,
        *,
        patience: float = 300.0,
        **options: Any,
    ) -> None:
        self._api = Api(patience)
        self._http = httpx.Client(**client_options(url, key, options))

    select = _blocking(Api.select)
    resume = _blocking(Api.resume)

    upload = _blocking(Api.upload)
    refer = _blocking(Api.refer)
    refresh = _blocking(Api.refresh)
    schema = _blocking(Api.schema)
    connections = _blocking(Api.connections)
    dataset = _blocking(Api.dataset)
    ready = _blocking(Api.ready)
    datasets = _iterating(Api.datasets)
    describe_dataset = _blocking(Api.describe_dataset)
    change_columns = _blocking(Api.change_columns)
    preview_columns = _blocking(Api.preview_columns)
    dataset_warnings = _blocking(Api.dataset_warnings)
    delete_dataset = _blocking(Api.delete_dataset)

    submit = _blocking(Api.submit)
    validate = _blocking(Api.validate)
    estimate = _blocking(Api.estimate)
    job = _blocking(Api.job)
    place = _blocking(Api.place)
    wait = _blocking(Api.wait)
    jobs = _iterating(Api.jobs)
    cancel = _blocking(Api.cancel)
    describe_job = _blocking(Api.describe_job)
    delete_job = _blocking(Api.delete_job)

    result = _blocking(Api.result)
    export = _blocking(Api.export)
    exported = _blocking(Api.exported)
    events = _iterating(Api.events)
    factors = _blocking(Api.factors)
    download_factors = _blocking(Api.download_factors)
    download_data = _blocking(Api.download_data)
    download_report = _blocking(Api.download_report)
    charts = _blocking(Api.charts)
    difference = _blocking(Api.difference)
    methods = _blocking(Api.methods)
    usage = _blocking(Api.usage)

    create_webhook = _blocking(Api.create_webhook)
    webhooks = _iterating(Api.webhooks)
    webhook = _blocking(Api.webhook)
    update_webhook = _blocking(Api.update_webhook)
    delete_webhook = _blocking(Api.delete_webhook)
    rotate_webhook = _blocking(Api.rotate_webhook)
    ping_webhook = _blocking(Api.ping_webhook)
    deliveries = _iterating(Api.deliveries)
    redeliver = _blocking(Api.redeliver)

    audit = _iterating(Api.audit)
    keys = _blocking(Api.keys)
    create_key = _blocking(Api.create_key)
    revoke_key = _blocking(Api.revoke_key)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, call: Call[T]) -> T:
        """Do what the call says until it returns; it hears of errors and interrupts too."""
        go_on: Callable[[], Step] = partial(next, call)
        while True:
            try:
                go_on = self._perform(call, go_on())
            except StopIteration as done:
                value: T = done.value
                return value
            except KeyboardInterrupt as interrupt:  # between two steps, where no step hears of it
                if getgeneratorstate(call) == GEN_CLOSED:
                    raise
                go_on = partial(call.throw, interrupt)

    def _iterate(self, flow: Flow[T]) -> Iterator[T]:
        go_on: Callable[[], Step | Item[T]] = partial(next, flow)
        while True:
            try:
                step = go_on()
            except StopIteration:
                return
            if isinstance(step, Item):
                yield step.value
                go_on = partial(next, flow)
            else:
                go_on = self._perform(flow, step)

    def _perform(self, steps: Any, step: Step) -> Callable[[], Any]:
        try:
            if isinstance(step, Request):
                return partial(steps.send, self._send(step))
            time.sleep(step.seconds)
        except BaseException as error:
            return partial(steps.throw, error)
        return partial(next, steps)

    def _send(self, request: Request) -> httpx.Response:
        parts = request_parts(request)
        if request.content is None or isinstance(request.content, bytes):
            return self._http.request(request.method, request.path, **parts)
        with request.content.open("rb") as file:
            return self._http.request(request.method, request.path, content=file, **parts)
