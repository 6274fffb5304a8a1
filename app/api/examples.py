"""Examples for the OpenAPI document: what the service said of the wines in `examples/wine.csv`.

`examples.json` has bodies; what lies within a body is the example of its own schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any

Schema = dict[str, Any]

TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}


@lru_cache
def _recorded() -> dict[str, dict[str, Any]]:
    recorded: dict[str, dict[str, Any]] = json.loads(
        files("app.api").joinpath("examples.json").read_text()
    )
    return recorded


def add_examples(schemas: dict[str, Schema]) -> None:
    """Give every schema that a recorded body meets its part of it, bodies all of theirs."""
    bodies: dict[str, list[Any]] = _recorded()["bodies"]
    for name, some in bodies.items():
        schemas[name]["examples"] = some
    for name, some in bodies.items():
        for body in some:
            _spread(schemas, schemas[name], body)


def add_own_examples(operation: Schema) -> None:
    """Give an operation those of what has no schema of its own: parameters and texts."""
    recorded = _recorded()
    for parameter in operation.get("parameters", ()):
        if parameter["name"] in recorded["parameters"]:
            parameter.setdefault("example", recorded["parameters"][parameter["name"]])
    for part in (operation.get("requestBody", {}), *operation["responses"].values()):
        for media_type, content in part.get("content", {}).items():
            if media_type in recorded["texts"]:
                content["example"] = recorded["texts"][media_type]


def _spread(schemas: dict[str, Schema], schema: Schema, value: Any) -> None:
    for part, within in _parts(schemas, schema, value):
        if "$ref" in part:
            named = schemas[_name(part)]
            named.setdefault("examples", [within])
            _spread(schemas, named, within)
        else:
            _spread(schemas, part, within)


def _parts(schemas: dict[str, Schema], schema: Schema, value: Any) -> Iterator[tuple[Schema, Any]]:
    """What a schema says of parts of a value, or which of its alternatives of the value itself."""
    choices = schema.get("anyOf") or schema.get("oneOf") or ()
    fitting = next((one for one in choices if _fits(schemas, one, value)), None)
    if fitting is not None:
        yield fitting, value
    if isinstance(value, list) and "items" in schema:
        yield from ((schema["items"], one) for one in value)
    if isinstance(value, dict):
        known = schema.get("properties", {})
        others = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
        for name, one in value.items():
            part = known.get(name, others[0])
            if isinstance(part, dict):
                yield part, one


def _fits(schemas: dict[str, Schema], schema: Schema, value: Any) -> bool:
    """Whether a value can be meant by a schema, as far as alternatives differ."""
    if "$ref" in schema:
        return _fits(schemas, schemas[_name(schema)], value)
    is_kind = isinstance(value, TYPES.get(schema.get("type", ""), object))
    is_word = value in schema.get("enum", [schema.get("const", value)])
    if not (is_kind and is_word and isinstance(value, dict)):
        return is_kind and is_word
    known = schema.get("properties", {})
    return set(schema.get("required", ())) <= value.keys() and all(
        _fits(schemas, known[name], one) for name, one in value.items() if name in known
    )


def _name(reference: Schema) -> str:
    name: str = reference["$ref"].rpartition("/")[2]
    return name
