"""Every state that the model can reach, and what must hold in all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from app.jobs import state as protocol
from app.jobs.state import Status
from tests.protocol import model
from tests.protocol.graph import Broken, Graph, walk
from tests.protocol.model import WORKERS, Rules, State

Move = tuple[str, State]
# What happens if nothing else goes wrong: these alone must bring every job to its end.
HELPFUL = {"deliver", "succeed", "beat", "heed", "lease ends", "sweep", "ring"}


def moves(state: State, rules: Rules) -> Iterator[Move]:
    """All that can happen next, by name."""
    for worker in WORKERS:
        yield from _worker_moves(state, worker, rules)
    yield from _sweeper_moves(state, rules)
    yield from _caller_moves(state, rules)
    if state.rung:
        yield "lose", state._replace(rung=False)
    if state.status is Status.RUNNING:
        yield "lease ends", state._replace(lease_over=True)
    if not state.status.is_final:
        yield "deadline", state._replace(overdue=True)


def _worker_moves(state: State, worker: int, rules: Rules) -> Iterator[Move]:
    held = state.workers[worker]
    if held is None:
        if state.rung:
            yield "deliver", model.claim(state._replace(rung=False), worker)
            yield "deliver twice", model.claim(state, worker)
        return
    yield "die", model.die(state, worker)
    yield "beat", model.beat(state, worker)
    yield "succeed", model.complete(state, worker, protocol.SUCCEED, rules)
    yield "fail", model.complete(state, worker, protocol.FAIL, rules)
    yield "hand back", model.hand_back(state, worker, rules)
    if held.told is not None:
        yield "heed", model.heed(state, worker, rules)


def _sweeper_moves(state: State, rules: Rules) -> Iterator[Move]:
    if not rules.sweeper:
        return
    yield "sweep", model.expire(state)
    if state.status is Status.RUNNING and state.lease_over and rules.lease_expires:
        yield "sweep", model.sweep_look(state)
        yield "sweep", model.sweep_act(model.sweep_look(state), rules)._replace(seen=state.seen)
    if state.seen is not None:
        yield "sweep", model.sweep_act(state, rules)
    if state.status is Status.QUEUED and not state.overdue:
        yield "ring", state._replace(rung=True)


def _caller_moves(state: State, rules: Rules) -> Iterator[Move]:
    yield "keep", model.keep(state)
    if rules.cancel_locks_the_row:
        yield "cancel", model.cancel(state)
    elif state.cancelling:
        yield "cancel", model.cancel_running(state)
    else:
        yield "cancel", model.cancel_queued(state)


@dataclass(frozen=True)
class Explored:
    """The graph of all states under some rules."""

    rules: Rules
    graph: Graph[State]


def explore(rules: Rules) -> Explored:
    """Breadth first from a submission whose message was sent, or lost with the API."""
    starts = (State(), State(rung=False))
    return Explored(rules, walk(starts, lambda state: moves(state, rules)))


def broken_promises(explored: Explored) -> Iterator[Broken]:
    """The first state that breaks each promise, with the way to it."""
    return explored.graph.broken(_suspects(explored))


def _suspects(explored: Explored) -> dict[str, Iterator[State]]:
    edges = explored.graph.edges
    finishing = explored.graph.can_finish(lambda state: state.status.is_final, HELPFUL)
    succeeding = explored.graph.can_finish(lambda state: state.n_results > 0, HELPFUL)
    limit = explored.rules.max_attempts
    return {
        "a job is not lost": (s for s in edges if s not in finishing),
        "a job ends once": (s for s in edges if s.n_ends > 1),
        "a final status never changes": (
            s for s, out in edges.items() if s.status.is_final and _changes(s, out)
        ),
        "a result exists if and only if the job succeeded": (
            s for s in edges if s.n_results != (s.status is Status.SUCCEEDED)
        ),
        "a cancel that was answered is kept": (s for s in edges if _forgot_cancel(s, edges[s])),
        "what is to be kept can be had": (
            s for s in edges if _must_be_kept(s, limit) and s not in succeeding
        ),
        "a keep that was answered stands": (
            s
            for s, out in edges.items()
            if s.keep_requested and not all(after.keep_requested for _, after in out)
        ),
        "a result is partial only if it was to be kept": (
            s for s in edges if s.partial and not s.keep_requested
        ),
        "a renewed lease is respected": (s for s, out in edges.items() if _robbed(s, out)),
        "attempts are limited": (s for s in edges if not 0 <= s.attempt <= limit),
    }


def _must_be_kept(state: State, limit: int) -> bool:
    """Whether a keep was answered that neither a cancel, a deadline nor the last attempt ends."""
    ends = state.cancel_requested or state.overdue or state.attempt >= limit
    return state.keep_requested and not ends and not state.status.is_final


def _changes(state: State, out: tuple[Move, ...]) -> bool:
    return any(after.status is not state.status for _, after in out)


def _forgot_cancel(state: State, out: tuple[Move, ...]) -> bool:
    if state.cancel_requested and state.status not in (Status.RUNNING, Status.CANCELLED):
        return True
    # A caller is answered when the move "cancel" leaves nothing to be done.
    return any(
        name == "cancel"
        and not after.cancelling
        and not after.cancel_requested
        and not after.status.is_final
        for name, after in out
    )


def _robbed(state: State, out: tuple[Move, ...]) -> bool:
    """Whether a sweeper takes away a job whose lease is not over."""
    running = state.status is Status.RUNNING and not state.lease_over
    return running and any(
        name == "sweep" and after.status is not Status.RUNNING for name, after in out
    )
