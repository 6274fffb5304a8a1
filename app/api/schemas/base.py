"""What all answers that show a row have in common."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field

from app.actors import ActorKind

# Control characters, and those that change the direction in which the others are read.
_UNSEEN = r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
INVISIBLE = re.compile(f"[{_UNSEEN}]")
VISIBLE = f"^[^{_UNSEEN}]+$"
JOB_EXAMPLE = "job_0123456789abcdef0123456789abcdef"
DATASET_EXAMPLE = "ds_0123456789abcdef0123456789abcdef"


class ActorRead(BaseModel):
    """Who did something."""

    kind: ActorKind = Field(
        description="A key, the subject of a token, somebody on the service's own machine, an "
        "operator at the command line, or the service itself (retention)."
    )
    id: str = Field(description="Of the key, or of the subject.", examples=["key_4yUo3jnS1Wd0Vbqz"])
    name: str = Field(examples=["nightly"])
    issuer: str | None = Field(description="Of a subject.")


class FromRow(BaseModel):
    """Read from rows of the database."""

    model_config = ConfigDict(from_attributes=True)
