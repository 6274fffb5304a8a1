"""Blocks that live on the workers of a Dask cluster.

Every block belongs to one worker, which made it of its part and is the only one asked about it, so
that what travels are parameters and sums, never rows; neighbours have the same owner, who adds up
what they answer as far as the tree of sums allows it. Where a worker is gone, its blocks are
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
from typing import Generic

import structlog
from distributed import Future

from app.cluster.connection import Coming, Connection, connected
from app.cluster.faults import BlockTooLarge, ClusterAway
from core.arrays import Bytes
from core.blocks.engine import (
    MEMORY,
    Answer,
    Argument,
    Block,
    Blocks,
    Engine,
    Part,
    Total,
    total_of,
)
from core.callbacks import OnFraction, OnWait, ignore
from core.workers import Workers

log = structlog.get_logger(__name__)

MOST_LOSSES = 5
"""So many workers may die with the same block before it is its fault."""

MOST_TOGETHER = 64
"""Blocks that answer with one sum: some seconds of work, which a cancel waits for."""

PROTOCOL = 5

TASKS_PER_THREAD = 2
"""Under way: one that runs, and one so that nobody waits. Answers beyond would pile up."""


@dataclass(frozen=True)
class DaskEngine:
    """Blocks on the workers of the scheduler at `address`; what is only written lies `nearby`."""

    address: str
    nearby: Engine = MEMORY

    def why_away(self) -> str | None:
        """What is wrong, if no scheduler is there that knows what it would be sent."""
        try:
            with connected(self.address, ignore):
                return None
        except ClusterAway as error:
            return str(error)

    def room(self, n_rows: int, n_columns: int) -> Bytes:
        """(n_rows, n_columns) bytes of this machine."""
        return self.nearby.room(n_rows, n_columns)

    @contextmanager
    def spread(
        self,
        build: Callable[[Part], Block],
        parts: Sequence[Part],
        on_wait: OnWait = ignore,
        on_made: OnFraction = ignore,
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
    """A question to some neighbours of one owner, from `first` on, that is under way."""

    first: int
    blocks: Sequence[_Owned]
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
        owners = [turns[place * len(turns) // len(parts)] for place in range(len(parts))]
        self._blocks = [self._make(place, owner) for place, owner in enumerate(owners)]

    def fold(
        self,
        work: Callable[[Block, Argument, Workers], Answer],
        argument: Argument,
        workers: Workers,
        on_done: OnFraction = ignore,
    ) -> Answer:
        question = self._connection.submit(_same, pickle.dumps((work, argument), PROTOCOL))
        total: Total[Answer] = Total()
        under_way: deque[_Asked] = deque()
        while total.n_blocks < len(self._parts):
            self._ask_on(under_way, total.n_blocks, question)
            with suppress(_Moved):
                look = partial(self._look, under_way)
                answer: bytes = self._connection.result(under_way[0].answer, look)
                n_blocks = len(under_way.popleft().blocks)
                total.take(n_blocks, pickle.loads(answer))  # noqa: S301
                on_done(total.n_blocks / len(self._parts))
        return total.sum()

    def _make(self, place: int, owner: str, n_losses: int = 0) -> _Owned:
        future = self._connection.submit(_make, self._build, self._parts[place], owner=owner)
        return _Owned(owner, future, n_losses)

    def _ask_on(self, under_way: deque[_Asked], n_done: int, question: Future) -> None:
        """Ask the next ones, as many as keep everybody busy."""
        while len(under_way) < self._n_under_way:
            first = under_way[-1].first + len(under_way[-1].blocks) if under_way else n_done
            if first == len(self._blocks):
                return
            blocks = self._neighbours(first)
            futures, owner = [block.future for block in blocks], blocks[0].owner
            task = self._connection.submit(_ask, question, *futures, owner=owner)
            under_way.append(_Asked(first, blocks, self._connection.fetch(task)))

    def _neighbours(self, first: int) -> Sequence[_Owned]:
        """The longest part of the tree that begins there and whose blocks have the same owner."""
        size, owner = 1, self._blocks[first].owner
        while size < MOST_TOGETHER and first % (2 * size) == 0:
            more = self._blocks[first + size : first + 2 * size]
            if len(more) < size or any(block.owner != owner for block in more):
                break
            size *= 2
        return self._blocks[first : first + size]

    def _look(self, under_way: deque[_Asked]) -> None:
        """Have the blocks of workers that are gone made by others, who are to be asked again."""
        threads = self._connection.threads()
        lost = [n for n, block in enumerate(self._blocks) if block.owner not in threads]
        if lost:
            log.warning("workers of the cluster lost, making blocks again", n_blocks=len(lost))
        for place in lost:
            self._move(place, threads)
        n_asked = len(under_way)
        while any(self._is_lost(asked) for asked in under_way):
            under_way.pop()
        if len(under_way) < n_asked:
            raise _Moved

    def _is_lost(self, asked: _Asked) -> bool:
        now = self._blocks[asked.first : asked.first + len(asked.blocks)]
        return any(block is not other for block, other in zip(now, asked.blocks, strict=True))

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


def _ask(question: bytes, *blocks: object) -> bytes:
    """Ask with one thread: a worker of several answers as many questions at a time.

    What is pickled here as a whole has its arrays where kernels expect them; Dask leaves them where
    they lie in a message, at any address.
    """
    work, argument = pickle.loads(question)  # noqa: S301  whoever reaches a cluster runs what he likes
    with Workers(1) as alone:
        answers = (work(block, argument, alone) for block in blocks)
        return pickle.dumps(total_of(answers, len(blocks)), PROTOCOL)
