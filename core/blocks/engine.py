"""Where the blocks of a table lie, and how a function is brought to them.

What passes over all rows of a large table asks the same of every block and adds up what the blocks
answer, in their order: so the sum is the same bytes wherever they lie and whoever works on them.
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

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Generic, Protocol, TypeVar

import numpy as np

from core.arrays import Bytes
from core.callbacks import OnWait, ignore
from core.workers import Workers

Part = TypeVar("Part")
Block = TypeVar("Block")
Kept_co = TypeVar("Kept_co", covariant=True)
Argument = TypeVar("Argument")
Answer = TypeVar("Answer")


class Blocks(Protocol[Kept_co]):
    """Blocks that can be asked, as often as one likes."""

    def map(
        self,
        work: Callable[[Kept_co, Argument, Workers], Answer],
        argument: Argument,
        workers: Workers,
    ) -> Iterator[Answer]:
        """What `work(block, argument, workers)` gives for each of the blocks, in their order.

        `workers` are the threads of this process; where blocks live elsewhere, theirs are used.
        """
        ...


class Engine(Protocol):
    """Where large things lie."""

    def room(self, n_rows: int, n_columns: int) -> Bytes:
        """(n_rows, n_columns) bytes to write to, which nobody reads at random."""
        ...

    def spread(
        self, build: Callable[[Part], Block], parts: Sequence[Part], on_wait: OnWait = ignore
    ) -> AbstractContextManager[Blocks[Block]]:
        """Make a block of each part, and keep them until the context ends."""
        ...


class Memory:
    """Everything lies in the memory of this process."""

    def room(self, n_rows: int, n_columns: int) -> Bytes:
        """(n_rows, n_columns) bytes."""
        return np.empty((n_rows, n_columns), dtype=np.uint8)

    def spread(
        self, build: Callable[[Part], Block], parts: Sequence[Part], on_wait: OnWait = ignore
    ) -> AbstractContextManager[Blocks[Block]]:
        """Make the blocks one after the other."""
        blocks = []
        for part in parts:
            on_wait()
            blocks.append(build(part))
        return nullcontext(_Held(blocks))


class _Held(Generic[Block]):
    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks

    def map(
        self,
        work: Callable[[Block, Argument, Workers], Answer],
        argument: Argument,
        workers: Workers,
    ) -> Iterator[Answer]:
        return (work(block, argument, workers) for block in self._blocks)


MEMORY = Memory()
