"""Fields that stand in several parts of the settings."""

from __future__ import annotations

from pydantic import ByteSize, Field

GIB = 1024**3


def size(gib: int, description: str) -> ByteSize:
    """So many bytes; `4GiB` and the like in the environment."""
    field: ByteSize = Field(default=ByteSize(gib * GIB), description=description)
    return field


def address(description: str) -> str:
    """An address of http or https, or none."""
    field: str = Field(default="", pattern=r"^(https?://[!-~]+)?$", description=description)
    return field
