"""All states that a model can reach, how each was reached, and which promises break in one."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

S = TypeVar("S")


@contextmanager
def keeping_all() -> Iterator[None]:
    """While a graph grows nothing is garbage; to search for it takes as long as the graph."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@dataclass(frozen=True)
class Broken:
    """A promise that does not hold, and one way to get there."""

    promise: str
    path: tuple[str, ...]


@dataclass(frozen=True)
class Graph(Generic[S]):
    """Every state with the moves that lead on, by name, and how it was reached first."""

    edges: dict[S, tuple[tuple[str, S], ...]]
    came_from: dict[S, tuple[str, S] | None]

    def path_to(self, state: S) -> tuple[str, ...]:
        """The names of the moves that lead there."""
        names: list[str] = []
        while (step := self.came_from[state]) is not None:
            names.append(step[0])
            state = step[1]
        return tuple(reversed(names))

    @keeping_all()
    def can_finish(self, is_final: Callable[[S], bool], helpful: Collection[str]) -> set[S]:
        """The states from which helpful moves alone lead to an end."""
        before: dict[S, list[S]] = {}
        for state, out in self.edges.items():
            for name, successor in out:
                if name in helpful:
                    before.setdefault(successor, []).append(state)
        finishing = {state for state in self.edges if is_final(state)}
        waiting = deque(finishing)
        while waiting:
            for state in before.get(waiting.popleft(), ()):
                if state not in finishing:
                    finishing.add(state)
                    waiting.append(state)
        return finishing

    def broken(self, suspects: Mapping[str, Iterator[S]]) -> Iterator[Broken]:
        """The first state that breaks each promise, with the way to it."""
        for promise, states in suspects.items():
            for state in states:
                yield Broken(promise, self.path_to(state))
                break


@keeping_all()
def walk(starts: Iterable[S], moves: Callable[[S], Iterable[tuple[str, S]]]) -> Graph[S]:
    """Breadth first from some states."""
    came_from: dict[S, tuple[str, S] | None] = dict.fromkeys(starts)
    edges: dict[S, tuple[tuple[str, S], ...]] = {}
    waiting = deque(came_from)
    while waiting:
        state = waiting.popleft()
        edges[state] = tuple(moves(state))
        for name, successor in edges[state]:
            if successor not in came_from:
                came_from[successor] = (name, state)
                waiting.append(successor)
    return Graph(edges, came_from)
