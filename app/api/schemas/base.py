"""What all answers that show a row have in common."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict

# Control characters, and those that change the direction in which the others are read.
_UNSEEN = r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
INVISIBLE = re.compile(f"[{_UNSEEN}]")
VISIBLE = f"^[^{_UNSEEN}]+$"
JOB_EXAMPLE = "job_0123456789abcdef0123456789abcdef"
DATASET_EXAMPLE = "ds_0123456789abcdef0123456789abcdef"


class FromRow(BaseModel):
    """Read from rows of the database."""

    model_config = ConfigDict(from_attributes=True)
