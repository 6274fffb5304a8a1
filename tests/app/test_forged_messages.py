"""Whoever can write to the broker can ring the bell, and nothing more."""

from __future__ import annotations

import base64
import json
import pickle
from pathlib import Path
from typing import Any

import redis

from app.broker import READ_DATASET, RUN_JOB, RUN_UNIT, make_celery
from tests.app.running import Service

SHAPES: list[tuple[list[Any], dict[str, Any]]] = [
    ([], {}),
    ([None], {}),
    ([7], {}),
    ([["a", "list"]], {}),
    ([{"id": "a dict"}], {}),
    (["too", "many"], {}),
    (["x" * 1_000_000], {}),
    (["\x00'; drop table jobs; --"], {}),
    ([], {"job_id": "nobody", "owner": "me"}),
]


class Exploit:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


def test_forged_messages_do_what_the_row_allows(service: Service, tmp_path: Path) -> None:
    dataset_id = service.ready_dataset()
    job_id = service.submit(dataset_id)
    done = service.final(job_id)
    celery = make_celery(service.env["PITH_BROKER_URL"])
    for call, own in (
        (RUN_JOB, [job_id, dataset_id]),
        (RUN_UNIT, [job_id, dataset_id]),
        (READ_DATASET, [dataset_id, job_id]),
    ):
        task, queue = call.task, call.queue
        for args, kwargs in [*SHAPES, *(([identifier], {}) for identifier in own)]:
            celery.send_task(task, args=args, kwargs=kwargs, queue=queue)
        celery.send_task("pith.no_such_task", args=[job_id], queue=queue)
        celery.send_task("celery.backend_cleanup", queue=queue)
        celery.send_task("celery.map", args=[task, [job_id]], queue=queue)
        with redis.Redis.from_url(service.env["PITH_BROKER_URL"]) as broker:
            broker.lpush(queue, _pickled(task, queue, Exploit(tmp_path / "exploited")))
    celery.close()
    other = service.submit(service.ready_dataset())
    assert service.final(other)["status"] == "succeeded"
    assert service.client.get(f"/v1/jobs/{job_id}").json() == done
    assert service.client.get(f"/v1/datasets/{dataset_id}").json()["status"] == "ready"
    assert list(tmp_path.iterdir()) == []


def _pickled(task: str, queue: str, payload: object) -> str:
    """A message in the form of Celery, whose body says that it is a pickle."""
    body = base64.b64encode(pickle.dumps(([payload], {}, {}))).decode()
    return json.dumps(
        {
            "body": body,
            "content-encoding": "binary",
            "content-type": "application/x-python-serialize",
            "headers": {"task": task, "id": "forged", "lang": "py"},
            "properties": {
                "delivery_info": {"exchange": "", "routing_key": queue},
                "delivery_tag": "forged",
                "body_encoding": "base64",
            },
        }
    )
