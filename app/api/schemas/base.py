"""What all answers that show a row have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

JOB_EXAMPLE = "job_0123456789abcdef0123456789abcdef"
DATASET_EXAMPLE = "ds_0123456789abcdef0123456789abcdef"


class FromRow(BaseModel):
    """Read from rows of the database."""

    model_config = ConfigDict(from_attributes=True)
