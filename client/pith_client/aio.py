"""The client for asyncio: the same calls, awaited, and lists as asynchronous iterators."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx

from pith_client.calls import Api
from pith_client.steps import Call, Flow, Item, Request, Step
from pith_client.transport import CHUNK, client_options, request_parts

P = ParamSpec("P")
T = TypeVar("T")


def _awaited(
    call: Callable[Concatenate[Api, P], Call[T]],
) -> Callable[Concatenate[AsyncPith, P], Coroutine[Any, Any, T]]:
    @wraps(call)
    async def method(self: AsyncPith, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(call(self._api, *args, **kwargs))

    return method


def _iterating(
    flow: Callable[Concatenate[Api, P], Flow[T]],
) -> Callable[Concatenate[AsyncPith, P], AsyncIterator[T]]:
    @wraps(flow)
    def method(self: AsyncPith, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        return self._iterate(flow(self._api, *args, **kwargs))

    return method


class AsyncPith:
    """`Pith` for asyncio; cancelling the task that waits in `select` cancels the job."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        key: str | None = None,
        *,
        patience: float = 300.0,
        **options: Any,
    ) -> None:
        self._api = Api(patience)
        self._http = httpx.AsyncClient(**client_options(url, key, options))

    select = _awaited(Api.select)
    resume = _awaited(Api.resume)

    upload = _awaited(Api.upload)
    refer = _awaited(Api.refer)
    refresh = _awaited(Api.refresh)
    schema = _awaited(Api.schema)
    connections = _awaited(Api.connections)
    dataset = _awaited(Api.dataset)
    ready = _awaited(Api.ready)
    datasets = _iterating(Api.datasets)
    describe_dataset = _awaited(Api.describe_dataset)
    change_columns = _awaited(Api.change_columns)
    preview_columns = _awaited(Api.preview_columns)
    dataset_warnings = _awaited(Api.dataset_warnings)
    delete_dataset = _awaited(Api.delete_dataset)

    submit = _awaited(Api.submit)
    validate = _awaited(Api.validate)
    estimate = _awaited(Api.estimate)
    job = _awaited(Api.job)
    place = _awaited(Api.place)
    wait = _awaited(Api.wait)
    jobs = _iterating(Api.jobs)
    cancel = _awaited(Api.cancel)
    describe_job = _awaited(Api.describe_job)
    delete_job = _awaited(Api.delete_job)

    result = _awaited(Api.result)
    export = _awaited(Api.export)
    exported = _awaited(Api.exported)
    events = _iterating(Api.events)
    factors = _awaited(Api.factors)
    download_factors = _awaited(Api.download_factors)
    download_data = _awaited(Api.download_data)
    download_report = _awaited(Api.download_report)
    charts = _awaited(Api.charts)
    difference = _awaited(Api.difference)
    methods = _awaited(Api.methods)
    usage = _awaited(Api.usage)

    create_webhook = _awaited(Api.create_webhook)
    webhooks = _iterating(Api.webhooks)
    webhook = _awaited(Api.webhook)
    update_webhook = _awaited(Api.update_webhook)
    delete_webhook = _awaited(Api.delete_webhook)
    rotate_webhook = _awaited(Api.rotate_webhook)
    ping_webhook = _awaited(Api.ping_webhook)
    deliveries = _iterating(Api.deliveries)
    redeliver = _awaited(Api.redeliver)

    audit = _iterating(Api.audit)
    keys = _awaited(Api.keys)
    create_key = _awaited(Api.create_key)
    revoke_key = _awaited(Api.revoke_key)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _run(self, call: Call[T]) -> T:
        """Do what the call says until it returns; it hears of errors and cancellation too."""
        go_on: Callable[[], Step] = partial(next, call)
        while True:
            try:
                step = go_on()
            except StopIteration as done:
                value: T = done.value
                return value
            go_on = await self._perform(call, step)

    async def _iterate(self, flow: Flow[T]) -> AsyncIterator[T]:
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
                go_on = await self._perform(flow, step)

    async def _perform(self, steps: Any, step: Step) -> Callable[[], Any]:
        try:
            if isinstance(step, Request):
                return partial(steps.send, await self._send(step))
            await asyncio.sleep(step.seconds)
        except BaseException as error:
            return partial(steps.throw, error)
        return partial(next, steps)

    async def _send(self, request: Request) -> httpx.Response:
        parts = request_parts(request)
        if isinstance(request.content, Path):
            parts["content"] = _chunks(request.content)
        return await self._http.request(request.method, request.path, **parts)


async def _chunks(path: Path) -> AsyncIterator[bytes]:
    with await asyncio.to_thread(path.open, "rb") as file:
        while chunk := await asyncio.to_thread(file.read, CHUNK):
            yield chunk
