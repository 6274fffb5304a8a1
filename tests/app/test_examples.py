"""Examples in the OpenAPI document: everywhere, and true to their schemas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.app.test_openapi import DOCUMENT, operations

SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
CHECKER = Draft202012Validator.FORMAT_CHECKER


def check(schema: dict[str, Any], example: Any) -> None:
    whole = {**schema, "components": DOCUMENT["components"]}
    Draft202012Validator(whole, format_checker=CHECKER).validate(example)


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_has_examples_that_it_allows(name: str) -> None:
    assert SCHEMAS[name].get("examples"), f"add a body with {name} to app/api/examples.json"
    for example in SCHEMAS[name]["examples"]:
        check({"$ref": f"#/components/schemas/{name}"}, example)


def examples_of(holder: dict[str, Any]) -> list[Any]:
    """Those of a parameter or a body, by itself or by its schema; of alternatives, of each."""
    schema = holder["schema"]
    if "example" in holder:
        return [holder["example"]]
    if "$ref" in schema:
        examples: list[Any] = SCHEMAS[schema["$ref"].rpartition("/")[2]]["examples"]
        return examples
    if "examples" in schema or "default" in schema:
        return list(schema.get("examples", [schema.get("default")]))
    of_each = [examples_of({"schema": one}) for one in schema.get("anyOf", ())]
    return [example for some in of_each for example in some]


def bodies(operation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in (operation.get("requestBody", {}), *operation["responses"].values()):
        yield from part.get("content", {}).items()


def test_every_operation_has_examples_of_all_that_is_text() -> None:
    seen = 0
    for path, operation in operations():
        for parameter in operation.get("parameters", ()):
            found = examples_of(parameter)
            assert found, (path, parameter["name"])
            for example in found:
                check(parameter["schema"], example)
        for media_type, content in bodies(operation):
            is_text = media_type.startswith("text/") or media_type.endswith("json")
            assert examples_of(content) or not is_text, (path, media_type)
            for example in examples_of(content):
                check(content["schema"], example)
                seen += 1
    assert seen > 400
