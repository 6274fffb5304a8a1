"""What callers of the last release would miss: `python -m tests.ops.breaking`, part of `make lint`.

Our own, for the tools that compare OpenAPI documents are programs of other languages, and this much
is enough: what was there must still be there, mean the same, and ask for nothing more.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RELEASED = ROOT / "tests" / "data" / "openapi-released.json"
CURRENT = ROOT / "openapi.json"

Json = dict[str, Any]


def breaks(old: Json, new: Json) -> Iterator[str]:
    """A sentence for everything that a caller of the old document could stumble over."""
    for path, operations in old["paths"].items():
        for method, operation in operations.items():
            where = f"{method.upper()} {path}"
            now = new["paths"].get(path, {}).get(method)
            if now is None:
                yield f"{where} is gone"
            else:
                yield from _operation(where, operation, now)
    sent, answered = _reached(new, "requestBody"), _reached(new, "responses")
    for name, schema in old["components"]["schemas"].items():
        now = new["components"]["schemas"].get(name)
        if now is not None:
            yield from _schema(name, schema, now, is_sent=name in sent, is_told=name in answered)


def _operation(where: str, old: Json, new: Json) -> Iterator[str]:
    if old["operationId"] != new["operationId"]:
        yield f"{where} is called {new['operationId']}, no longer {old['operationId']}"
    before, after = _parameters(old), _parameters(new)
    for name in before.keys() - after.keys():
        yield f"{where} does not take {name} any more"
    for name, parameter in after.items():
        if parameter.get("required") and not before.get(name, {}).get("required"):
            yield f"{where} wants {name}"
    for status, response in old["responses"].items():
        now = new["responses"].get(status)
        if now is None and status < "400":
            yield f"{where} does not answer {status} any more"
        for kind in response.get("content", {}).keys() - (now or {}).get("content", {}).keys():
            if status < "400":
                yield f"{where} does not answer {status} as {kind} any more"


def _parameters(operation: Json) -> dict[str, Json]:
    return {f"{p['in']} {p['name']}": p for p in operation.get("parameters", ())}


def _schema(name: str, old: Json, new: Json, *, is_sent: bool, is_told: bool) -> Iterator[str]:
    before, after = old.get("properties", {}), new.get("properties", {})
    for field in before.keys() - after.keys():
        yield f"{name} has no {field} any more"
    for field in sorted(before.keys() & after.keys()):
        was, now = _kinds(before[field]), _kinds(after[field])
        if (is_sent and not was <= now) or (is_told and not now <= was):
            yield f"{name}.{field} is {_listed(now)}, no longer {_listed(was)}"
    wanted, was_wanted = set(new.get("required", ())), set(old.get("required", ()))
    if is_sent and (more := wanted - was_wanted):
        yield f"{name} wants {', '.join(sorted(more))}"
    if is_told and (fewer := was_wanted - wanted):
        yield f"{name} need not have {', '.join(sorted(fewer))} any more"


def _kinds(schema: Json) -> set[str]:
    """What a field may be: what is sent may become more, what is answered may become less."""
    if "$ref" in schema:
        return {str(schema["$ref"]).rpartition("/")[2]}
    if "anyOf" in schema:
        return set().union(*map(_kinds, schema["anyOf"]))
    return {str(schema.get("type", "anything"))}


def _listed(kinds: set[str]) -> str:
    return " or ".join(sorted(kinds))


def _reached(document: Json, part: str) -> set[str]:
    """The schemas that bodies of one direction are made of."""
    found: set[str] = set()
    operations = [op for item in document["paths"].values() for op in item.values()]
    waiting = [op[part] for op in operations if part in op]
    while waiting:
        for name in _references(waiting.pop()) - found:
            found.add(name)
            waiting.append(document["components"]["schemas"][name])
    return found


def _references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"].rpartition("/")[2]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*map(_references, value.values()))
    return set().union(*map(_references, value)) if isinstance(value, list) else set()


def main() -> int:
    """Print what breaks, and say whether anything does."""
    found = list(breaks(json.loads(RELEASED.read_text()), json.loads(CURRENT.read_text())))
    for sentence in found:
        sys.stderr.write(f"openapi.json breaks its callers: {sentence}\n")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
