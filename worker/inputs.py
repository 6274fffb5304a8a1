"""What a job computes with: its specification, and its columns out of the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, BinaryIO

import structlog
from pydantic import ValidationError

from app.cluster.source import StoredColumns
from app.datasets import repository as datasets
from app.datasets.columns import Columns, defer_columns
from app.datasets.faults import MISSING, Damaged
from app.datasets.keys import COLUMNS, key_of
from app.datasets.parquet_ranges import ranges_of, ranges_without
from app.jobs import speeds
from app.jobs.costs import selection_seconds
from app.jobs.memory import engine_for
from app.jobs.runs import Work
from app.jobs.specification import Specification, check_columns, config_of, methods_beside
from app.jobs.state import Stop
from app.store.base import StoreAway, Wanted
from app.store.places import SCRATCH, address_of
from core.blocks.engine import MEMORY, Engine
from core.blocks.scratch import Scratch
from core.cost.engines import EngineName
from core.cost.work import Speed
from core.data.deferred import Deferred
from core.data.sources import Origin
from core.data.texts import Column
from core.names import exclude_unneeded
from core.results.selection import Progress
from worker.heartbeat import Heartbeat, Stopped
from worker.process import Process

log = structlog.get_logger(__name__)

PAUSE_SECONDS = 1
# A name, a method or a word that this version does not know; all else was checked when submitted.
NEWER = {"extra_forbidden", "union_tag_invalid", "literal_error", "enum"}
PREPARING = Progress(phase="prepare", fraction=0.0)


@dataclass(frozen=True)
class Input:
    """What is asked, the columns it is asked of, unneeded ones by name alone, and where they go.

    `origin` is where a cluster finds the columns; who has them at hand does not read them twice.
    """

    specification: Specification
    columns: Mapping[str, Column]
    engine_name: EngineName
    engine: Engine
    origin: Origin | None


@contextmanager
def open_input(process: Process, work: Work[Any], heartbeat: Heartbeat) -> Iterator[Input]:
    """The input of a job, whose columns are read when they are looked at."""
    specification = _understood(work)
    with process.database.read() as session:
        n_rows, profile = datasets.read_profile(session, work.dataset_id)
        speed = speeds.newest(session) or Speed()
    name = engine_for(specification, n_rows, profile, process.settings.capacity)
    heartbeat.expect(partial(selection_seconds, specification, n_rows, profile, speed, engine=name))
    check_columns(specification, profile)
    excluded = _unneeded(specification, [column["name"] for column in profile])
    key = key_of(work.tenant, work.dataset_id, COLUMNS)
    fetch = partial(_fetch, process, key, heartbeat)
    opened = (
        late_columns(specification, excluded, fetch) if name == "dask" else _open(fetch, excluded)
    )
    with opened as columns:
        process.preparation.wait(lambda: heartbeat.report(PREPARING))
        origin = StoredColumns(address_of(process.settings), key) if name == "dask" else None
        yield Input(specification, columns, name, _engine(process, name, heartbeat), origin)


Fetch = Callable[[Wanted], BinaryIO]


@contextmanager
def _open(fetch: Fetch, excluded: Collection[str]) -> Iterator[Columns]:
    with fetch(partial(ranges_without, excluded)) as file:
        yield defer_columns(file, excluded)


@contextmanager
def late_columns(
    specification: Specification, excluded: Collection[str], fetch: Fetch
) -> Iterator[Columns]:
    """The target and the weights, which are read here; others once somebody looks at one."""
    weight = specification.weight_column
    here = {specification.target, *((weight,) if weight else ())}
    with ExitStack() as stack, fetch(partial(ranges_of, here)) as file:
        columns = defer_columns(file, excluded)
        others = _Others(lambda: stack.enter_context(_open(fetch, excluded)))
        for name in columns.keys() - here - set(excluded):
            values = columns[name]
            assert isinstance(values, Deferred)
            columns[name] = replace(values, read=partial(others.read, name))
        yield columns


@dataclass
class _Others:
    """Columns that a cluster reads, unless what is asked of them can be done here alone."""

    open: Callable[[], Columns]

    @cached_property
    def _columns(self) -> Columns:
        return self.open()

    def read(self, name: str, first: int, last: int) -> Any:
        values = self._columns[name]
        assert isinstance(values, Deferred)
        return values.read(first, last)


def _unneeded(specification: Specification, names: Sequence[str]) -> set[str]:
    config, beside = config_of(specification), methods_beside(specification)
    return set(exclude_unneeded(config, names, specification.target, beside).columns.exclude)


def _engine(process: Process, name: EngineName, heartbeat: Heartbeat) -> Engine:
    if name == "memory":
        return MEMORY
    log.info("table not in memory", engine=name)
    scratch = Scratch(process.settings.data_dir / SCRATCH)
    return scratch if name == "file" else _cluster(process, scratch, heartbeat)


def _cluster(process: Process, scratch: Scratch, heartbeat: Heartbeat) -> Engine:
    """While the cluster is away the job waits, as long as anybody wants it."""
    # Late, for it takes most of a second and needs libraries that few installations have.
    from app.cluster.engine import DaskEngine  # noqa: PLC0415

    engine = DaskEngine(process.settings.dask_scheduler, scratch)
    while (why := engine.why_away()) is not None:
        log.warning("cluster away, trying again", error=why)
        heartbeat.check()
        time.sleep(PAUSE_SECONDS)
    return engine


def _understood(work: Work[Any]) -> Specification:
    """What is asked; what only a newer version can have asked is left to its workers."""
    try:
        return Specification.model_validate(work.specification)
    except ValidationError as error:
        if {one["type"] for one in error.errors()} <= NEWER:
            log.warning("left to a newer worker", error=str(error))
            raise Stopped(Stop.LEFT) from error
        raise


def _fetch(process: Process, key: str, heartbeat: Heartbeat, wanted: Wanted) -> BinaryIO:
    """While the store is away the job waits, as long as anybody wants it."""
    while True:
        try:
            return process.store.on_disk(key, wanted)
        except StoreAway:
            log.warning("store away, trying again")
            heartbeat.check()
            time.sleep(PAUSE_SECONDS)
        except FileNotFoundError as error:
            raise Damaged(MISSING) from error
