"""The job protocol as a model: one job, two workers, and a broker that loses and repeats.

A state holds the row, what each worker believes, what a sweeper has read and not yet acted upon,
and whether a message is under way. Every function is one conditional update, one message or one
fault; what can come between two of them in the service can come between them here. A frozen worker
is one that makes no move for a while, a zombie one that moves after its lease is over. What decides
is the service's own `app.jobs.state`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from app.jobs import state as protocol
from app.jobs.state import Status, Stop, Transition

WORKERS = (0, 1)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Rules:
    """The safeguards of the protocol, each of which can be left out to see what it is for."""

    sweeper: bool = True
    lease_expires: bool = True
    completion_is_conditional: bool = True
    sweeper_asks_again: bool = True
    cancel_locks_the_row: bool = True
    cancel_comes_first: bool = True
    keep_outlives_the_worker: bool = True
    max_attempts: int = 3


class Held(NamedTuple):
    """A worker's claim as the worker knows it, and what the last heartbeat told it."""

    attempt: int
    told: Stop | None = None


class Seen(NamedTuple):
    """A silent job as the sweeper read it."""

    owner: int | None
    attempt: int
    stop: Stop | None


class State(NamedTuple):
    """Everything at one moment; `n_ends` counts how often the job became final.

    A `partial` result was kept before all was done. When features are chosen is left to chance: a
    keep may be answered, and what is done be kept, as soon as the job runs.
    """

    status: Status = Status.QUEUED
    attempt: int = 0
    owner: int | None = None
    lease_over: bool = False
    cancel_requested: bool = False
    keep_requested: bool = False
    partial: bool = False
    overdue: bool = False
    n_results: int = 0
    n_ends: int = 0
    workers: tuple[Held | None, ...] = (None, None)
    seen: Seen | None = None
    cancelling: bool = False
    rung: bool = True


def holds(state: State, worker: int) -> bool:
    """Whether the row says that this worker's claim is the one that counts."""
    held = state.workers[worker]
    claimed = (state.owner, state.attempt) == (worker, held.attempt if held else None)
    return state.status is Status.RUNNING and claimed


def claim(state: State, worker: int) -> State:
    """Take the job, if it is there to be taken."""
    if state.status not in protocol.CLAIM.sources or state.overdue:
        return state
    attempt = state.attempt + 1
    state = state._replace(status=protocol.CLAIM.target, attempt=attempt, owner=worker)
    return _hold(state._replace(lease_over=False), worker, Held(attempt))


def beat(state: State, worker: int) -> State:
    """Renew the lease and learn what there is to learn."""
    held = state.workers[worker]
    assert held is not None
    if not holds(state, worker):
        return _hold(state, worker, held._replace(told=Stop.LOST))
    state = state._replace(lease_over=False)
    return _hold(state, worker, held._replace(told=_stop_of(state)))


def complete(state: State, worker: int, transition: Transition, rules: Rules) -> State:
    """Succeed, fail or expire, or be cancelled instead; then forget the claim."""
    after = _hold(state, worker, None)
    if not rules.completion_is_conditional:
        return _end(after, transition)
    if not holds(state, worker):
        return after
    if state.cancel_requested and rules.cancel_comes_first:
        transition = protocol.CANCEL_RUNNING
    return _end(after, transition) if state.status in transition.sources else after


def hand_back(state: State, worker: int, rules: Rules) -> State:
    """A worker told to stop returns the job without charging the attempt."""
    if not holds(state, worker):
        return _hold(state, worker, None)
    if state.cancel_requested and rules.cancel_comes_first:
        return complete(state, worker, protocol.CANCEL_RUNNING, rules)
    state = _hold(state, worker, None)
    return _requeue(state._replace(attempt=state.attempt - 1), protocol.HAND_BACK, rules)


def heed(state: State, worker: int, rules: Rules) -> State:
    """Do what the heartbeat said."""
    held = state.workers[worker]
    assert held is not None
    if held.told is Stop.CANCELLED:
        return complete(state, worker, protocol.CANCEL_RUNNING, rules)
    if held.told is Stop.EXPIRED:
        return complete(state, worker, protocol.EXPIRE_RUNNING, rules)
    if held.told is Stop.KEPT:
        return keep_what_is_done(state, worker, rules)
    return _hold(state, worker, None)


def keep_what_is_done(state: State, worker: int, rules: Rules) -> State:
    """Succeed without the rest."""
    after = complete(state, worker, protocol.SUCCEED, rules)
    return after._replace(partial=after.n_results > state.n_results)


def die(state: State, worker: int) -> State:
    """Killed: nothing is said, another process takes its place."""
    return _hold(state, worker, None)


def cancel_queued(state: State) -> State:
    """The first statement of a cancel."""
    state = state._replace(cancelling=True)
    if state.status not in protocol.CANCEL_QUEUED.sources:
        return state
    return _end(state._replace(cancel_requested=True), protocol.CANCEL_QUEUED)


def cancel_running(state: State) -> State:
    """The second statement of a cancel, after which the caller is answered."""
    state = state._replace(cancelling=False)
    if state.status is Status.RUNNING:
        return state._replace(cancel_requested=True)
    return state


def cancel(state: State) -> State:
    """Both with the row locked, so that nothing comes between them."""
    return cancel_running(cancel_queued(state))


def keep(state: State) -> State:
    """Ask for what is done."""
    if state.status is Status.RUNNING and not state.cancel_requested:
        return state._replace(keep_requested=True)
    return state


def sweep_look(state: State) -> State:
    """Read a job whose lease is over; that it is to be kept makes no difference."""
    stop = _stop_of(state)
    seen = Seen(state.owner, state.attempt, None if stop is Stop.KEPT else stop)
    return state._replace(seen=seen)


def sweep_act(state: State, rules: Rules) -> State:
    """Recover the job that was read, if it still is as it was."""
    seen, state = state.seen, state._replace(seen=None)
    assert seen is not None
    same = (state.owner, state.attempt) == (seen.owner, seen.attempt)
    if state.status is not Status.RUNNING or not same:
        return state
    if rules.sweeper_asks_again and not state.lease_over:
        return state
    if rules.cancel_comes_first and state.cancel_requested and seen.stop is not Stop.CANCELLED:
        return state
    transition, _ = protocol.after_lost_lease(
        attempt=seen.attempt, max_attempts=rules.max_attempts, stop=seen.stop
    )
    if transition.target.is_final:
        return _end(state, transition)
    return _requeue(state, transition, rules)


def expire(state: State) -> State:
    """The sweeper ends a queued job beyond its deadline."""
    if state.status in protocol.EXPIRE_QUEUED.sources and state.overdue:
        return _end(state, protocol.EXPIRE_QUEUED)
    return state


def _stop_of(state: State) -> Stop | None:
    deadline_at = NOW + timedelta(seconds=-1 if state.overdue else 1)
    return protocol.stop_of(
        cancel_requested=state.cancel_requested,
        keep_requested=state.keep_requested,
        deadline_at=deadline_at,
        now=NOW,
    )


def _hold(state: State, worker: int, held: Held | None) -> State:
    workers = tuple(held if i == worker else other for i, other in enumerate(state.workers))
    return state._replace(workers=workers)


def _end(state: State, transition: Transition) -> State:
    n_results = state.n_results + (transition is protocol.SUCCEED)
    state = state._replace(status=transition.target, n_ends=state.n_ends + 1)
    return state._replace(n_results=n_results, owner=None, lease_over=False)


def _requeue(state: State, transition: Transition, rules: Rules) -> State:
    kept = state.keep_requested and rules.keep_outlives_the_worker
    state = state._replace(status=transition.target, keep_requested=kept)
    return state._replace(owner=None, lease_over=False)
