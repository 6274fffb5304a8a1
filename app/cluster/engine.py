"""Blocks that live on the workers of a Dask cluster.

Every block belongs to one worker, which made it of its part and is the only one asked about it, so
that what travels are parameters and answers, never rows. Where a worker is gone, its blocks are
made anew by those that are left. Dask's own scheduling would move blocks to where work is
lacking, and leave those of a worker that died to wait for it.
"""

from __future__ import annotations

import pickle
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from typing import Generic

import structlog
from distributed import Future

from app.cluster.connection import Coming, Connection, connected
from app.cluster.faults import BlockTooLarge, ClusterAway
from core.arrays import Bytes
from core.blocks.engine import MEMORY, Answer, Argument, Block, Blocks, Engine, Part
from core.callbacks import OnWait, ignore
from core.workers import Workers

log = structlog.get_logger(__name__)

MOST_LOSSES = 5
"""So many workers may die with the same block before it is its fault."""

PROTOCOL = 5

TASKS_PER_THREAD = 2
"""Under way: one that runs, and one so that nobody waits. Answers beyond would pile up."""


@dataclass(frozen=True)
class DaskEngine:
    """Blocks on the workers of the scheduler at `address`; what is only written lies `nearby`."""

    address: str
    nearby: Engine = MEMORY

    def answers(self) -> bool:
        """Whether the scheduler is there."""
        try:
            with connected(self.address, ignore):
                return True
        except ClusterAway:
            return False

    def room(self, n_rows: int, n_columns: int) -> Bytes:
        """(n_rows, n_columns) bytes of this machine."""
        return self.nearby.room(n_rows, n_columns)

    @contextmanager
    def spread(
        self, build: Callable[[Part], Block], parts: Sequence[Part], on_wait: OnWait = ignore
    ) -> Iterator[Blocks[Block]]:
        """Have the blocks made by workers that take turns; nobody waits for them here."""
        with connected(self.address, on_wait) as connection:
            yield _Spread(connection, build, parts)


@dataclass(frozen=True, eq=False)
class _Owned:
    """A block where it lives, after so many workers that died with it."""

    owner: str
    future: Future
    n_losses: int = 0


@dataclass(frozen=True, eq=False)
class _Asked:
    """A question to one of the blocks that is under way."""

    place: int
    block: _Owned
    answer: Coming


class _Moved(Exception):
    """Ends the wait for an answer that will come from elsewhere."""


class _Spread(Generic[Part, Block]):
    def __init__(
        self, connection: Connection, build: Callable[[Part], Block], parts: Sequence[Part]
    ) -> None:
        self._connection = connection
        self._build = connection.submit(_same, build)
        self._parts = parts
        turns = _turns(connection.threads())
        self._n_under_way = TASKS_PER_THREAD * len(turns)
        owners = islice(cycle(turns), len(parts))
        self._blocks = [self._make(place, owner) for place, owner in enumerate(owners)]

    def map(
        self,
        work: Callable[[Block, Argument, Workers], Answer],
        argument: Argument,
        workers: Workers,
    ) -> Iterator[Answer]:
        question = self._connection.submit(_same, pickle.dumps((work, argument), PROTOCOL))
        todo = iter(range(len(self._parts)))
        under_way = deque(self._ask(place, question) for place in islice(todo, self._n_under_way))
        while under_way:
            yield pickle.loads(self._answer_of_first(under_way, question))  # noqa: S301
            under_way.popleft()
            under_way.extend(self._ask(place, question) for place in islice(todo, 1))

    def _make(self, place: int, owner: str, n_losses: int = 0) -> _Owned:
        future = self._connection.submit(_make, self._build, self._parts[place], owner=owner)
        return _Owned(owner, future, n_losses)

    def _ask(self, place: int, question: Future) -> _Asked:
        block = self._blocks[place]
        task = self._connection.submit(_ask, question, block.future, owner=block.owner)
        return _Asked(place, block, self._connection.fetch(task))

    def _answer_of_first(self, under_way: deque[_Asked], question: Future) -> bytes:
        while True:
            with suppress(_Moved):
                look = partial(self._look, under_way, question)
                answer: bytes = self._connection.result(under_way[0].answer, look)
                return answer

    def _look(self, under_way: deque[_Asked], question: Future) -> None:
        """Have the blocks of workers that are gone made by others, and ask those again."""
        threads = self._connection.threads()
        lost = [n for n, block in enumerate(self._blocks) if block.owner not in threads]
        if lost:
            log.warning("workers of the cluster lost, making blocks again", n_blocks=len(lost))
        for place in lost:
            self._move(place, threads)
        again = [asked.block is not self._blocks[asked.place] for asked in under_way]
        for n, is_moved in enumerate(again):
            if is_moved:
                under_way[n] = self._ask(under_way[n].place, question)
        if any(again):
            raise _Moved

    def _move(self, place: int, threads: Mapping[str, int]) -> None:
        """To the worker with the fewest blocks for each of its threads."""
        n_losses = self._blocks[place].n_losses + 1
        if n_losses > MOST_LOSSES:
            raise BlockTooLarge(f"{n_losses} workers of the cluster died with the same block")
        held = Counter(block.owner for block in self._blocks)
        owner = min(threads, key=lambda address: held[address] / threads[address])
        self._blocks[place] = self._make(place, owner, n_losses)


def _turns(threads: Mapping[str, int]) -> list[str]:
    """Every worker as often as it has threads, neighbours as different as can be."""
    rounds = range(max(threads.values()))
    return [owner for turn in rounds for owner, n in threads.items() if turn < n]


def _same(thing: Argument) -> Argument:
    """Bring something to the cluster as a task, which Dask can do again."""
    return thing


def _make(build: Callable[[Part], Block], part: Part) -> Block:
    return build(part)


def _ask(question: bytes, block: object) -> bytes:
    """Ask with one thread: a worker of several answers as many questions at a time.

    What is pickled here as a whole has its arrays where kernels expect them; Dask leaves them where
    they lie in a message, at any address.
    """
    work, argument = pickle.loads(question)  # noqa: S301  whoever reaches a cluster runs what he likes
    with Workers(1) as alone:
        return pickle.dumps(work(block, argument, alone), PROTOCOL)
