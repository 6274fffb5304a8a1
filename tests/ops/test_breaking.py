"""What breaks callers is found, and what does not is let through."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable

import pytest

from tests.ops.breaking import CURRENT, Json, breaks, main

DOCUMENT: Json = json.loads(CURRENT.read_text())
RESULT = "/v1/jobs/{job_id}/result"


def change(how: Callable[[Json], object]) -> list[str]:
    changed = copy.deepcopy(DOCUMENT)
    how(changed)
    return list(breaks(DOCUMENT, changed))


def schemas(document: Json) -> Json:
    found: Json = document["components"]["schemas"]
    return found


CHANGES: list[tuple[Callable[[Json], object], str]] = [
    (lambda d: d["paths"].pop(RESULT), f"GET {RESULT} is gone"),
    (
        lambda d: d["paths"]["/v1/jobs"]["post"].update(operationId="order"),
        "POST /v1/jobs is called order, no longer submitJob",
    ),
    (
        lambda d: d["paths"]["/v1/jobs"]["get"].update(parameters=[]),
        "GET /v1/jobs does not take query status any more",
    ),
    (lambda d: schemas(d)["JobRead"]["properties"].pop("phase"), "JobRead has no phase any more"),
    (
        lambda d: schemas(d)["JobRead"]["properties"]["progress"].update(type="string"),
        "JobRead.progress is string, no longer number",
    ),
    (lambda d: schemas(d)["JobRead"]["required"].remove("id"), "JobRead need not have id any more"),
    (lambda d: schemas(d)["JobCreate"]["required"].append("k"), "JobCreate wants k"),
    (
        lambda d: d["paths"][RESULT]["get"]["responses"].pop("200"),
        f"GET {RESULT} does not answer 200 any more",
    ),
]


@pytest.mark.parametrize(("how", "sentence"), CHANGES, ids=[sentence for _, sentence in CHANGES])
def test_what_breaks_is_found(how: Callable[[Json], object], sentence: str) -> None:
    assert sentence in change(how)


def test_more_is_no_break() -> None:
    def more(document: Json) -> None:
        document["paths"]["/v1/more"] = document["paths"]["/v1/jobs"]
        schemas(document)["JobRead"]["properties"]["more"] = {"type": "string"}
        schemas(document)["JobRead"]["required"].append("more")
        schemas(document)["JobCreate"]["properties"]["more"] = {"type": "string"}

        field = schemas(document)["JobCreate"]["properties"]["target"]
        field.update(anyOf=[{"type": field.pop("type")}, {"type": "null"}])

    assert change(more) == []
    assert change(lambda document: document) == []


def test_the_last_release_is_not_broken() -> None:
    assert main() == 0
