"""The table of settings in docs/operations.md; `python -m tests.ops.settings_table` rewrites it."""

from __future__ import annotations

from pathlib import Path

from pydantic import ByteSize
from pydantic_core import PydanticUndefined

from app.settings import Settings

DOCUMENT = Path(__file__).parents[2] / "docs" / "operations.md"
BEGIN, END = "<!-- settings -->\n", "<!-- /settings -->\n"


def render() -> str:
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        assert field.default is not PydanticUndefined
        rows.append(f"| `PITH_{name.upper()}` | {_shown(field.default)} | {field.description} |")
    return "\n".join(rows) + "\n"


def _shown(value: object) -> str:
    if value == "":
        return ""
    if isinstance(value, ByteSize):
        return f"`{value.human_readable(separator='').replace('.0', '')}`"
    return f"`{value}`"


def written() -> str:
    return DOCUMENT.read_text().partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    before, _, rest = DOCUMENT.read_text().partition(BEGIN)
    DOCUMENT.write_text(before + BEGIN + render() + END + rest.partition(END)[2])
