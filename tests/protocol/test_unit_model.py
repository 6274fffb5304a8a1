"""Jobs of units checked in every state they can reach, and each safeguard by leaving it out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from app.jobs.state import FINAL, Status
from tests.protocol import unit_model as model
from tests.protocol.graph import Graph, walk
from tests.protocol.unit_model import WORKERS, Rules, State

Move = tuple[str, State]
# What happens if nothing else goes wrong: these alone must bring every job to its end.
HELPFUL = {"deliver", "succeed", "beat", "lease ends", "sweep", "ring"}


def moves(state: State, rules: Rules) -> Iterator[Move]:
    """All that can happen next, by name."""
    for worker in WORKERS:
        yield from worker_moves(state, worker, rules)
    if rules.sweeper:
        yield from sweeper_moves(state, rules)
    if not state.status.is_final:
        yield "cancel", model.end(state, Status.CANCELLED, rules)
        yield "keep", model.keep(state, rules)
        yield "deadline", model.end(state, Status.EXPIRED, rules)
    if state.rung:
        yield "lose", state._replace(rung=False)
    for number, unit in enumerate(state.units):
        if unit.status is Status.RUNNING and not unit.lease_over:
            yield "lease ends", model.lease_ends(state, number)


def worker_moves(state: State, worker: int, rules: Rules) -> Iterator[Move]:
    held = state.workers[worker]
    if held is None:
        if state.rung:
            yield "deliver", model.claim(state._replace(rung=False), worker, rules)
        return
    yield "die", model.die(state, worker)
    yield "beat", model.beat(state, worker)
    yield "fail", model.fail(state, worker, rules)
    yield "hand back", model.hand_back(state, worker)
    if rules.job_is_locked or held.tally is not None or held.unit == rules.last:
        yield "succeed", model.succeed(state, worker, rules)
    else:
        yield "succeed", model.count(state, worker)


def sweeper_moves(state: State, rules: Rules) -> Iterator[Move]:
    if state.seen is not None:
        yield "sweep", model.sweep_act(state, rules)
    elif rules.lease_expires and state.status is Status.RUNNING:
        for number, unit in enumerate(state.units):
            if unit.status is Status.RUNNING and unit.lease_over:
                yield "sweep", model.sweep_look(state, number)
    if model.claimable(state, rules):
        yield "ring", state._replace(rung=True)


def broken_promises(rules: Rules) -> tuple[Graph[State], set[str]]:
    graph = walk([model.start(rules)], lambda state: moves(state, rules))
    edges = graph.edges
    finishing = graph.can_finish(lambda state: state.status.is_final, HELPFUL)
    succeeding = graph.can_finish(lambda state: state.n_results > 0, HELPFUL)
    suspects = {
        "a job is not lost": (s for s in edges if s not in finishing),
        "a job ends once": (s for s in edges if s.n_ends > 1),
        "a result exists if and only if the job succeeded": (
            s for s in edges if s.n_results != (s.status is Status.SUCCEEDED)
        ),
        "what is to be kept can be had": (
            s for s in edges if must_be_kept(s, rules) and s not in succeeding
        ),
        "a kept job waits for no experiment": (
            s
            for s in edges
            if s.kept and any(u.status not in FINAL for u in s.units[1 : rules.last])
        ),
        "a unit ends once": (s for s in edges if s.repeated),
        "a result holds every unit": (s for s in edges if s.incomplete),
        "a sample rests on a selection": (s for s in edges if s.unfounded),
        "a renewed lease is respected": (s for s in edges if robbed(s, rules)),
        "attempts are limited": (
            s for s in edges if any(not 0 <= u.attempt <= rules.max_attempts for u in s.units)
        ),
    }
    return graph, {found.promise for found in graph.broken(suspects)}


def must_be_kept(state: State, rules: Rules) -> bool:
    """Whether a keep was answered, and the units that are left may be tried again."""
    if not state.kept or state.status.is_final or not state.units:
        return False
    return all(state.units[n].attempt < rules.max_attempts for n in (0, rules.last))


def robbed(state: State, rules: Rules) -> bool:
    """Whether the sweeper takes away a unit whose lease is not over."""
    if state.seen is None or not state.units or state.status.is_final:
        return False
    unit = state.units[state.seen.unit]
    renewed = unit.status is Status.RUNNING and not unit.lease_over
    return renewed and model.sweep_act(state, rules) != state._replace(seen=None)


def test_every_promise_holds_in_every_state() -> None:
    graph, broken = broken_promises(Rules())
    assert broken == set()
    assert {state.status for state in graph.edges} == set(Status)
    assert len(graph.edges) == 40_949  # as docs/reliability.md says


@pytest.mark.parametrize(
    ("left_out", "breaks"),
    [
        ("sweeper", "a job is not lost"),
        ("lease_expires", "a job is not lost"),
        ("job_is_locked", "a job is not lost"),
        ("completion_is_conditional", "a unit ends once"),
        ("sweeper_asks_again", "a renewed lease is respected"),
        ("summary_waits", "a result holds every unit"),
        ("samples_wait", "a sample rests on a selection"),
        ("units_end_with_the_job", "a job ends once"),
        ("experiments_end_with_a_keep", "a kept job waits for no experiment"),
    ],
)
def test_without_a_safeguard_a_promise_breaks(left_out: str, breaks: str) -> None:
    without: dict[str, Any] = {left_out: False, "max_attempts": 1}
    assert breaks in broken_promises(replace(Rules(), **without))[1]
