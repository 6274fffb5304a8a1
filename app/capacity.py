"""What there is for a job to run on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Capacity:
    """The memory of one worker, and whether there is a cluster for what it cannot hold."""

    memory_bytes: int
    has_cluster: bool = False
