"""A job of units as a model: two workers that share it, a sweeper, callers, and a bell.

A companion of `model`, which has the life of one row: here are several rows and the job's count of
those that are done. A beat that says "lost" makes its worker give up at once, for a worker that did
not hear it is one that did not beat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from app.jobs import state as protocol
from app.jobs.state import FINAL, LIVE, Status

WORKERS = (0, 1)
SELECTION, SAMPLE, SUMMARY = "selection", "sample", "summary"


@dataclass(frozen=True)
class Rules:
    """The units by name, a trial by its method, and safeguards that can each be left out."""

    tasks: tuple[str, ...] = (SELECTION, "mrmr", SAMPLE, SUMMARY)
    sweeper: bool = True
    lease_expires: bool = True
    completion_is_conditional: bool = True
    sweeper_asks_again: bool = True
    job_is_locked: bool = True
    summary_waits: bool = True
    samples_wait: bool = True
    units_end_with_the_job: bool = True
    experiments_end_with_a_keep: bool = True
    max_attempts: int = 2

    @property
    def last(self) -> int:
        """The number of the summary."""
        return len(self.tasks) - 1


class Unit(NamedTuple):
    """A unit's row."""

    status: Status = Status.QUEUED
    attempt: int = 0
    owner: int | None = None
    lease_over: bool = False


class Held(NamedTuple):
    """A worker's claim as the worker knows it; `tally` is what it counted without a lock."""

    unit: int
    attempt: int
    tally: int | None = None


class Seen(NamedTuple):
    """A silent unit as the sweeper read it."""

    unit: int
    owner: int | None
    attempt: int


class State(NamedTuple):
    """Everything at one moment; a job that has ended has no units.

    `repeated` once a unit ended twice, `incomplete` once a result was made without all units,
    `unfounded` once a sample was taken before there was a selection. When features are
    chosen is left to chance: a running job may be `kept` at any time.
    """

    units: tuple[Unit, ...]
    status: Status = Status.QUEUED
    n_done: int = 0
    n_results: int = 0
    n_ends: int = 0
    repeated: bool = False
    incomplete: bool = False
    unfounded: bool = False
    kept: bool = False
    workers: tuple[Held | None, ...] = (None, None)
    seen: Seen | None = None
    rung: bool = True


def start(rules: Rules) -> State:
    """A job as it is submitted."""
    return State((Unit(),) * len(rules.tasks))


def claimable(state: State, rules: Rules) -> list[int]:
    """The units to be had: samples when there is a selection, the summary when all are done."""
    if state.status not in LIVE:
        return []
    waiting = set()
    if rules.summary_waits and state.n_done < rules.last:
        waiting.add(SUMMARY)
    if rules.samples_wait and state.units[0].status is not Status.SUCCEEDED:
        waiting.add(SAMPLE)
    queued = [n for n, unit in enumerate(state.units) if unit.status is Status.QUEUED]
    return [n for n in queued if rules.tasks[n] not in waiting]


def claim(state: State, worker: int, rules: Rules) -> State:
    """Take the first unit; ring again while there are more."""
    free = claimable(state, rules)
    if not free:
        return state
    is_sample = rules.tasks[free[0]] == SAMPLE
    if is_sample and state.units[0].status is not Status.SUCCEEDED:
        state = state._replace(unfounded=True)
    attempt = state.units[free[0]].attempt + 1
    state = _put(state, free[0], Unit(protocol.CLAIM.target, attempt, worker))
    state = _hold(state._replace(status=Status.RUNNING), worker, Held(free[0], attempt))
    return state._replace(rung=state.rung or len(free) > 1)


def holds(state: State, worker: int) -> bool:
    """Whether the row says that this worker's claim is the one that counts."""
    held = state.workers[worker]
    if held is None or not state.units or state.status is not Status.RUNNING:
        return False
    unit = state.units[held.unit]
    claimed = (unit.owner, unit.attempt) == (worker, held.attempt)
    return unit.status is Status.RUNNING and claimed


def beat(state: State, worker: int) -> State:
    """Renew the lease, or learn of the loss and give up."""
    held = state.workers[worker]
    if held is None or not holds(state, worker):
        return _hold(state, worker, None)
    return _put(state, held.unit, state.units[held.unit]._replace(lease_over=False))


def count(state: State, worker: int) -> State:
    """What a worker does first that does not lock the job: others may count at the same time."""
    held = state.workers[worker]
    assert held is not None
    return _hold(state, worker, held._replace(tally=_n_final(state) + 1))


def succeed(state: State, worker: int, rules: Rules) -> State:
    """Keep what came of a unit; of the summary, the result."""
    held = state.workers[worker]
    after = _hold(state, worker, None)
    if held is None or not _may_end(state, worker, held, rules):
        return after
    if held.unit == rules.last:
        others = state.units[: rules.last]
        missing = any(unit.status not in FINAL for unit in others)
        after = after._replace(n_results=state.n_results + 1, incomplete=missing)
        return end(after, Status.SUCCEEDED, rules)
    after = _conclude(after, held.unit, Status.SUCCEEDED)
    if held.tally is not None:
        after = _ring_if_due(after._replace(n_done=held.tally))
    is_selection = rules.tasks[held.unit] == SELECTION
    return after._replace(rung=after.rung or (is_selection and bool(claimable(after, rules))))


def fail(state: State, worker: int, rules: Rules) -> State:
    """A failed trial takes its method out, any other unit the job."""
    held = state.workers[worker]
    after = _hold(state, worker, None)
    if held is None or not _may_end(state, worker, held, rules):
        return after
    return _fail(after, held.unit, rules)


def _may_end(state: State, worker: int, held: Held, rules: Rules) -> bool:
    if rules.completion_is_conditional and rules.units_end_with_the_job:
        return holds(state, worker)
    if not state.units:
        return False
    unit = state.units[held.unit]
    claimed = unit.status is Status.RUNNING and (unit.owner, unit.attempt) == (worker, held.attempt)
    return claimed or not rules.completion_is_conditional


def _fail(state: State, number: int, rules: Rules) -> State:
    name = rules.tasks[number]
    if name in (SELECTION, SAMPLE, SUMMARY):
        return end(state, Status.FAILED, rules)
    state = _conclude(state, number, Status.FAILED)
    for later in range(number + 1, rules.last):
        if rules.tasks[later] == name and state.units[later].status is Status.QUEUED:
            state = _conclude(state, later, Status.CANCELLED)
    return state


def hand_back(state: State, worker: int) -> State:
    """Return a unit without charging the attempt, and ring for it."""
    held = state.workers[worker]
    after = _hold(state, worker, None)
    if held is None or not holds(state, worker):
        return after
    return _put(after, held.unit, Unit(Status.QUEUED, held.attempt - 1))._replace(rung=True)


def die(state: State, worker: int) -> State:
    """Killed: nothing is said, another process takes its place."""
    return _hold(state, worker, None)


def end(state: State, status: Status, rules: Rules) -> State:
    """End the job, and its units with it; from outside, by a cancel or a deadline, as well."""
    n_ends = state.n_ends + 1
    units = () if rules.units_end_with_the_job else state.units
    return state._replace(status=status, n_ends=n_ends, units=units, n_done=0)


def keep(state: State, rules: Rules) -> State:
    """Leave out what is not done between the selection and the summary, and ring for that."""
    if state.status is not Status.RUNNING or state.kept:
        return state
    for number in range(1, rules.last):
        if state.units[number].status in LIVE and rules.experiments_end_with_a_keep:
            state = _put(state, number, Unit(Status.CANCELLED))
    return state._replace(n_done=_n_final(state), kept=True, rung=True)


def lease_ends(state: State, number: int) -> State:
    """A worker was silent for too long."""
    return _put(state, number, state.units[number]._replace(lease_over=True))


def sweep_look(state: State, number: int) -> State:
    """Read a unit whose lease is over."""
    unit = state.units[number]
    return state._replace(seen=Seen(number, unit.owner, unit.attempt))


def sweep_act(state: State, rules: Rules) -> State:
    """Recover the unit that was read, if it still is as it was."""
    seen, state = state.seen, state._replace(seen=None)
    if seen is None or not state.units or state.status is not Status.RUNNING:
        return state
    unit = state.units[seen.unit]
    if unit.status is not Status.RUNNING or (unit.owner, unit.attempt) != seen[1:]:
        return state
    if rules.sweeper_asks_again and not unit.lease_over:
        return state
    transition, spent = protocol.after_lost_lease(
        attempt=seen.attempt, max_attempts=rules.max_attempts, stop=None
    )
    if spent:
        return _fail(state, seen.unit, rules)
    return _put(state, seen.unit, Unit(transition.target, seen.attempt))


def _conclude(state: State, number: int, status: Status) -> State:
    """A unit ends, and the job counts what is done."""
    unit = state.units[number]
    state = _put(state, number, unit._replace(status=status, owner=None, lease_over=False))
    repeated = state.repeated or unit.status in FINAL
    return _ring_if_due(state._replace(repeated=repeated, n_done=_n_final(state)))


def _ring_if_due(state: State) -> State:
    return state._replace(rung=state.rung or state.n_done == len(state.units) - 1)


def _n_final(state: State) -> int:
    return sum(unit.status in FINAL for unit in state.units)


def _put(state: State, number: int, unit: Unit) -> State:
    units = (*state.units[:number], unit, *state.units[number + 1 :])
    return state._replace(units=units)


def _hold(state: State, worker: int, held: Held | None) -> State:
    workers = tuple(held if i == worker else other for i, other in enumerate(state.workers))
    return state._replace(workers=workers)
