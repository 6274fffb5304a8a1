"""What a worker can be told to do alone."""

from __future__ import annotations

from enum import StrEnum


class Part(StrEnum):
    """One of the two programs of a worker."""

    JOBS = "jobs"
    READS = "reads"
