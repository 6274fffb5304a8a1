"""What the validating library found, in whole sentences that need no knowledge of Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Context = Mapping[str, Any]


def plain(error: Mapping[str, Any]) -> str:
    """The sentence for one error of pydantic's."""
    kind, context = error["type"], error.get("ctx", {})
    if kind in SENTENCES:
        return SENTENCES[kind](context)
    return FIXED.get(kind, str(error["msg"]).removeprefix("Value error, "))


def _counted(n: int, noun: str) -> str:
    many = {"entry": "entries"}.get(noun, f"{noun}s")
    return f"1 {noun}" if n == 1 else f"{n:,} {many}"


def _too_short(context: Context) -> str:
    least = context["min_length"]
    return "this must not be empty" if least == 1 else f"this needs {_counted(least, 'character')}"


def _too_few(context: Context) -> str:
    return f"this needs at least {_counted(context['min_length'], 'entry')}"


def _too_many(context: Context) -> str:
    return f"this may have at most {_counted(context['max_length'], 'entry')}"


def _one_of(context: Context) -> str:
    expected = str(context["expected"])
    return f"this must be {expected if ' or ' not in expected else f'one of {expected}'}"


SENTENCES: Mapping[str, Callable[[Context], str]] = {
    "string_too_short": _too_short,
    "string_too_long": lambda c: f"this has more than {_counted(c['max_length'], 'character')}",
    "too_short": _too_few,
    "too_long": _too_many,
    "greater_than_equal": lambda c: f"this must be at least {c['ge']:,}",
    "greater_than": lambda c: f"this must be more than {c['gt']:,}",
    "less_than_equal": lambda c: f"this must be at most {c['le']:,}",
    "less_than": lambda c: f"this must be less than {c['lt']:,}",
    "literal_error": _one_of,
    "enum": _one_of,
    "union_tag_invalid": lambda c: f"there is no {c['tag']!r} here; there are {c['expected_tags']}",
}
FIXED: Mapping[str, str] = {
    "missing": "this is required",
    "extra_forbidden": "no field of this name is known here",
    "string_type": "this must be text",
    "string_pattern_mismatch": "this has characters that are not allowed here",
    "int_type": "this must be a whole number",
    "int_parsing": "this must be a whole number",
    "int_from_float": "this must be a whole number",
    "float_type": "this must be a number",
    "float_parsing": "this must be a number",
    "finite_number": "this must be a finite number",
    "bool_type": "this must be true or false",
    "bool_parsing": "this must be true or false",
    "list_type": "this must be a list",
    "dict_type": "this must be an object",
    "model_type": "this must be an object",
    "model_attributes_type": "this must be an object",
    "union_tag_not_found": "this must say which one it is, by `name`",
    "datetime_parsing": "this must be a time such as 2026-01-31T10:00:00Z",
    "datetime_from_date_parsing": "this must be a time such as 2026-01-31T10:00:00Z",
    "timezone_aware": "this time needs a zone, such as Z for UTC",
}
