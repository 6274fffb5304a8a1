"""Writes the committed copy of the OpenAPI document: `python -m app.cli.write_openapi`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.main import create_app
from app.settings import Settings

COMMITTED = Path(__file__).parents[2] / "openapi.json"


def as_text(document: dict[str, Any]) -> str:
    """The document as it is committed."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    COMMITTED.write_text(as_text(create_app(Settings()).openapi()))
