"""The service's own functions on real SQL, driven at random and held against the model."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, invariant, precondition, rule
from sqlalchemy import update

from app.db.clock import moment
from app.errors import Conflict
from app.jobs import runs
from app.jobs import state as transitions
from app.jobs.claims import JobClaim
from app.jobs.endings import Failure
from app.jobs.models import Job
from app.jobs.runs import Work
from app.jobs.state import Stop
from app.settings import Settings
from app.upkeep.sweeps import sweep_jobs
from tests.app.protocol import Protocol
from tests.protocol import model
from tests.protocol.machine import JobsMachine, can_be_kept, drive
from tests.protocol.model import WORKERS, Rules, State

RULES = Rules()
# Every sweep rings for every job that waits, and a job that comes back waits for nothing.
SETTINGS = Settings(backoff_seconds=0, resend_seconds=1e-6, max_attempts=RULES.max_attempts)
FAILURE = Failure("invalid_data", "column 'a' is constant")
MAX_JOBS = 3

jobs = Bundle("jobs")
workers = st.sampled_from(WORKERS)


class Machine(JobsMachine[Protocol, State, Work[JobClaim]]):
    """Some jobs, and two workers for each; a zombie is a worker whose claim was taken away."""

    @precondition(lambda self: len(self.states) < MAX_JOBS)
    @rule(target=jobs)
    def submit(self) -> str:
        job_id = self.protocol.submit(self.dataset_id)
        self.states[job_id] = State()
        return job_id

    @rule(job_id=jobs, worker=workers)
    def deliver(self, job_id: str, worker: int) -> None:
        """A message arrives, be it new, repeated or forged."""
        if self.states[job_id].workers[worker] is not None:
            return
        self.step(job_id, lambda state: model.claim(state, worker))
        work = self.protocol.claim(job_id)
        assert (work is not None) == (self.states[job_id].workers[worker] is not None)
        if work is not None:
            self.works[job_id, worker] = work

    @rule(job_id=jobs, worker=workers)
    def beat(self, job_id: str, worker: int) -> None:
        if work := self.works.get((job_id, worker)):
            told = self.protocol.beat(work)
            self.step(job_id, lambda state: model.beat(state, worker))
            held = self.states[job_id].workers[worker]
            assert held is not None
            assert told == held.told

    @rule(job_id=jobs, worker=workers)
    def choose(self, job_id: str, worker: int) -> None:
        """The features are there, and what is left are experiments."""
        if work := self.works.get((job_id, worker)):
            self.protocol.beat(work, phase="evaluate")
            self.beat(job_id, worker)

    @rule(job_id=jobs)
    def keep(self, job_id: str) -> None:
        row = self.protocol.read(job_id)
        asked = row.cancel_requested_at or row.keep_requested_at or row.finished_at
        with nullcontext() if asked or can_be_kept(row) else pytest.raises(Conflict):
            self.protocol.keep(job_id)
            self.step(job_id, model.keep)

    @rule(job_id=jobs, worker=workers)
    def heed(self, job_id: str, worker: int) -> None:
        held = self.states[job_id].workers[worker]
        if held is not None and held.told is Stop.KEPT:
            self._keep(job_id, worker)
        elif held is not None and held.told is not None:
            self._stop(job_id, worker, held.told)
            self.step(job_id, lambda state: model.heed(state, worker, RULES))

    @rule(job_id=jobs, worker=workers)
    def hand_back(self, job_id: str, worker: int) -> None:
        if (job_id, worker) in self.works:
            self._stop(job_id, worker, Stop.HANDED_BACK)
            self.step(job_id, lambda state: model.hand_back(state, worker, RULES))

    @rule(job_id=jobs, worker=workers)
    def succeed(self, job_id: str, worker: int) -> None:
        if work := self.works.pop((job_id, worker), None):
            done = self.protocol.succeed(work)
            before = self.states[job_id].n_results
            complete = transitions.SUCCEED
            self.step(job_id, lambda state: model.complete(state, worker, complete, RULES))
            assert done == (self.states[job_id].n_results > before)

    @rule(job_id=jobs, worker=workers)
    def fail(self, job_id: str, worker: int) -> None:
        if work := self.works.pop((job_id, worker), None):
            with self.protocol.database.write() as session:
                runs.fail(session, work.claim, FAILURE, {}, [])
            complete = transitions.FAIL
            self.step(job_id, lambda state: model.complete(state, worker, complete, RULES))

    @rule(job_id=jobs, worker=workers)
    def die(self, job_id: str, worker: int) -> None:
        self.works.pop((job_id, worker), None)
        self.step(job_id, lambda state: model.die(state, worker))

    @rule(job_id=jobs)
    def cancel(self, job_id: str) -> None:
        self.protocol.cancel(job_id)
        self.step(job_id, model.cancel)

    @rule(job_id=jobs)
    def lease_ends(self, job_id: str) -> None:
        if self.states[job_id].owner is not None:
            self._set(job_id, lease_until=moment(timedelta(seconds=-1)))
            self.step(job_id, lambda state: state._replace(lease_over=True))

    @rule(job_id=jobs)
    def deadline(self, job_id: str) -> None:
        if not self.states[job_id].status.is_final:
            self.protocol.pass_deadline(job_id)
            self.step(job_id, lambda state: state._replace(overdue=True))

    @rule()
    def sweep(self) -> None:
        self.protocol.bell.rung.clear()
        with self.protocol.database.write() as session:
            sweep_jobs(session, self.protocol.bell, SETTINGS)
        for job_id in self.states:
            self.step(job_id, _swept)
        waiting = {j for j, s in self.states.items() if s.status == "queued" and not s.overdue}
        assert set(self.protocol.bell.rung) == waiting

    @invariant()
    def the_rows_are_as_the_model_says(self) -> None:
        for job_id, state in self.states.items():
            row = self.protocol.read(job_id)
            requested = row.cancel_requested_at is not None
            assert (row.status, row.attempt, requested) == (*state[:2], state.cancel_requested)
            kept = row.keep_requested_at is not None
            assert (kept, row.partial) == (state.keep_requested, state.partial)
            assert self.n_results(job_id) == state.n_results
            assert (row.finished_at is not None) == state.status.is_final

    def _keep(self, job_id: str, worker: int) -> None:
        self.protocol.succeed(self.works.pop((job_id, worker)), missing=["evaluation"])
        self.step(job_id, lambda state: model.heed(state, worker, RULES))

    def _stop(self, job_id: str, worker: int, reason: Stop) -> None:
        work = self.works.pop((job_id, worker))
        with self.protocol.database.write() as session:
            runs.stop(session, self.protocol.bell, work.claim, reason)

    def _set(self, job_id: str, **values: Any) -> None:
        with self.protocol.database.write() as session, session.begin():
            session.execute(update(Job).where(Job.id == job_id).values(values))


def _swept(state: State) -> State:
    state = model.expire(state)
    return model.sweep_act(model.sweep_look(state), RULES) if state.lease_over else state


def test_the_service_does_what_the_model_does(database_url: str) -> None:
    n_moves = drive(Machine, Protocol(database_url), n_examples=25, n_steps=40)
    assert n_moves > 0
