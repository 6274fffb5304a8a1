"""An engine like one whose blocks live elsewhere: everything that it is given is pickled."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from core.arrays import Bytes
from core.blocks.engine import MEMORY, total_of
from core.callbacks import OnFraction, OnWait, ignore
from core.workers import Workers


def sent(value: Any) -> Any:
    """The value as another process gets it."""
    return pickle.loads(pickle.dumps(value))


@dataclass(frozen=True)
class Owners:
    """Blocks dealt out to some owners, who answer one after the other, the last one first."""

    n_owners: int

    def room(self, n_rows: int, n_columns: int) -> Bytes:
        return MEMORY.room(n_rows, n_columns)

    def spread(
        self,
        build: Callable[[Any], Any],
        parts: Sequence[Any],
        on_wait: OnWait = ignore,
        on_made: OnFraction = ignore,
    ) -> AbstractContextManager[Any]:
        held = {i: sent(build)(sent(part)) for i, part in enumerate(parts)}
        return nullcontext(_Dealt(self.n_owners, held))


@dataclass(frozen=True)
class _Dealt:
    n_owners: int
    held: dict[int, Any]

    def fold(
        self,
        work: Callable[[Any, Any, Workers], Any],
        argument: Any,
        workers: Workers,
        on_done: OnFraction = ignore,
    ) -> Any:
        answers = {}
        for owner in reversed(range(self.n_owners)):
            for i in range(owner, len(self.held), self.n_owners):
                answers[i] = sent(sent(work)(self.held[i], sent(argument), Workers(1)))
        return total_of((answers[i] for i in range(len(self.held))), len(self.held), on_done)
