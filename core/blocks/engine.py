"""Where the blocks of a table lie, and how a function is brought to them.

What passes over all rows of a large table asks the same of every block and adds up what the blocks
answer, by a tree whose shape depends on their number alone: so the sum is the same bytes wherever
they lie and whoever works on them, and who holds neighbours can add them up before he answers.
Three engines provide the blocks: `Memory`, here; `Scratch`, which keeps them in a file; and one
outside of `core`, whose blocks live on other machines. Such an engine has the two methods of
`Engine`, and `spread` gives something with the one of `Blocks`.

`build`, each of the `parts`, `work`, `argument` and what `work` gives can be pickled, and are small
(an argument is the parameters of the models, an answer as much again); a block is not small, and is
never sent: where it is to live, it is made by `build(part)`. What `build` reads rows from is its
`source` (`core.data.sources`): the table at hand, or a description by which a process
elsewhere finds the same rows. `work` and `build` are pure, so a block that is lost can be made and
asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from core.arrays import Bytes
from core.callbacks import OnFraction, OnWait, ignore
from core.workers import Workers

Part = TypeVar("Part")
Block = TypeVar("Block")
Kept_co = TypeVar("Kept_co", covariant=True)
Argument = TypeVar("Argument")
Answer = TypeVar("Answer")


class Blocks(Protocol[Kept_co]):
    """Blocks that can be asked, as often as one likes."""

    def fold(
        self,
        work: Callable[[Kept_co, Argument, Workers], Answer],
        argument: Argument,
        workers: Workers,
        on_done: OnFraction = ignore,
    ) -> Answer:
        """The sum, by `+=`, of what `work(block, argument, workers)` gives for each block.

        `workers` are the threads of this process; where blocks live elsewhere, theirs are used.
        `on_done` is told what part of the blocks have answered; it ends the pass by raising.
        """
        ...


class Engine(Protocol):
    """Where large things lie."""

    def room(self, n_rows: int, n_columns: int) -> Bytes:
        """(n_rows, n_columns) bytes to write to, which nobody reads at random."""
        ...

    def spread(
        self,
        build: Callable[[Part], Block],
        parts: Sequence[Part],
        on_wait: OnWait = ignore,
        on_made: OnFraction = ignore,
    ) -> AbstractContextManager[Blocks[Block]]:
        """Make a block of each part, and keep them until the context ends.

        `on_made` is told what part of them is made, where somebody waits for that here.
        """
        ...


class Memory:
    """Everything lies in the memory of this process."""

    def room(self, n_rows: int, n_columns: int) -> Bytes:
        """(n_rows, n_columns) bytes."""
        return np.empty((n_rows, n_columns), dtype=np.uint8)

    def spread(
        self,
        build: Callable[[Part], Block],
        parts: Sequence[Part],
        on_wait: OnWait = ignore,
        on_made: OnFraction = ignore,
    ) -> AbstractContextManager[Blocks[Block]]:
        """Make the blocks one after the other."""
        blocks = []
        for part in parts:
            on_wait()
            blocks.append(build(part))
            on_made(len(blocks) / len(parts))
        return nullcontext(_Held(blocks))


class _Held(Generic[Block]):
    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks

    def fold(
        self,
        work: Callable[[Block, Argument, Workers], Answer],
        argument: Argument,
        workers: Workers,
        on_done: OnFraction = ignore,
    ) -> Answer:
        answers = (work(block, argument, workers) for block in self._blocks)
        return total_of(answers, len(self._blocks), on_done)


class Total(Generic[Answer]):
    """A sum that grows from left to right, as a tree: pairs, then pairs of pairs, and so on."""

    def __init__(self) -> None:
        self.n_blocks = 0
        self._parts: list[tuple[int, Answer]] = []

    def take(self, n_blocks: int, answer: Answer) -> None:
        """Add the sum of the next blocks: a power of two, and as many go into those before."""
        self.n_blocks += n_blocks
        while self._parts and self._parts[-1][0] == n_blocks:
            answer = _added(self._parts.pop()[1], answer)
            n_blocks *= 2
        self._parts.append((n_blocks, answer))

    def sum(self) -> Answer:
        """Of all that was taken."""
        _, total = self._parts.pop()
        while self._parts:
            total = _added(self._parts.pop()[1], total)
        return total


def _added(one: Any, other: Any) -> Any:
    one += other
    return one


def total_of(answers: Iterable[Answer], n_blocks: int, on_done: OnFraction = ignore) -> Answer:
    """The sum of what so many blocks answer one after the other."""
    total: Total[Answer] = Total()
    for answer in answers:
        total.take(1, answer)
        on_done(total.n_blocks / n_blocks)
    return total.sum()


MEMORY = Memory()
