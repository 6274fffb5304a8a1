"""What may be answered: the committed OpenAPI document, held against a response."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import httpx
from jsonschema import Draft202012Validator

from app.cli.write_openapi import COMMITTED

DOCUMENT: dict[str, Any] = json.loads(COMMITTED.read_text())
OPERATIONS: dict[str, dict[str, Any]] = {
    operation["operationId"]: operation
    for item in DOCUMENT["paths"].values()
    for operation in item.values()
}


def breach(operation_id: str, response: httpx.Response) -> str | None:
    """How an answer is unlike the document, or None."""
    if response.status_code == 500:
        return f"{operation_id} answered 500"
    documented = OPERATIONS[operation_id]["responses"].get(str(response.status_code))
    if documented is None:
        return f"{operation_id} answered {response.status_code}"
    content = documented.get("content", {})
    media_type = response.headers.get("content-type", "").split(";")[0]
    if (media_type or response.content) and media_type not in content:
        return f"{operation_id} answered {response.status_code} as {media_type!r}"
    if not media_type.endswith("json"):
        return None
    validator = _validator(json.dumps(content[media_type]["schema"]))
    error = next(validator.iter_errors(response.json()), None)
    return f"{operation_id} answered {response.status_code}: {error.message}" if error else None


@cache
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator({**json.loads(schema), "components": DOCUMENT["components"]})
