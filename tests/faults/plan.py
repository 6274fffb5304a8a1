"""Which faults happen when: all of it follows from the seed."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

# Between two faults; long enough for work to be done in between.
PAUSE_SECONDS = (0.5, 3.5)


class Kind(StrEnum):
    """What can go wrong."""

    KILL_WORKER = "kill -9 a worker with all its processes"
    KILL_MAIN = "kill -9 the main process of a worker"
    KILL_CHILD = "kill -9 the process that runs a worker's job"
    FREEZE_WORKER = "freeze a worker beyond its lease, then wake it"
    STOP_WORKER = "stop a worker (SIGTERM)"
    KILL_API = "kill -9 the API"
    RESTART_REDIS = "restart Redis"
    WIPE_REDIS = "wipe Redis"
    RESTART_POSTGRES = "restart Postgres"
    CRASH_POSTGRES = "crash Postgres"
    CUT_POSTGRES = "cut the connections to Postgres"
    CUT_REDIS = "cut the connections to Redis"
    DELAY_POSTGRES = "hold up the connections to Postgres"
    DELAY_REDIS = "hold up the connections to Redis"
    SWALLOW_POSTGRES = "swallow all that the connections to Postgres carry, for good"
    SKEW_WORKER = "start a worker anew on a clock that is an hour ahead or behind"
    FILL_DISK = "leave the API no room on the disk"
    RESTART_STORE = "restart the store"
    DELAY_STORE = "hold up the connections to the store"
    BUSY_STORE = "have the store answer 503"
    HALVE_STORE = "have the store break off in the middle of answers"
    REVOKE_STORE = "have the store refuse the credentials"


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong: seconds after the start, to which worker, for how long."""

    at: float
    kind: Kind
    worker: int
    seconds: float


# What a directory cannot suffer.
OF_BUCKETS = {kind for kind in Kind if kind.name.endswith("_STORE")}


def plan(
    seed: int, seconds: float, n_workers: int, kinds: Collection[Kind] = tuple(Kind)
) -> Iterator[Fault]:
    """Rounds in which every kind comes once, in a new order."""
    rng = random.Random(f"faults {seed}")
    at = rng.uniform(*PAUSE_SECONDS)
    while True:
        for kind in rng.sample(list(kinds), len(kinds)):
            if at >= seconds:
                return
            yield Fault(at, kind, rng.randrange(n_workers), rng.uniform(0.2, 2))
            at += rng.uniform(*PAUSE_SECONDS)
