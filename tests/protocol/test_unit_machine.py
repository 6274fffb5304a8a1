"""Units on real SQL, driven at random by the service's own functions and held against the model."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, invariant, precondition, rule
from sqlalchemy import select, update

from app.errors import Conflict
from app.jobs.models import Unit
from app.jobs.state import Status, Stop
from app.jobs.units.service import UnitWork
from app.settings import Settings
from app.upkeep.sweeps import sweep_jobs, sweep_units
from tests.app.test_units import UnitProtocol
from tests.protocol import unit_model as model
from tests.protocol.machine import JobsMachine, can_be_kept, drive
from tests.protocol.unit_model import SAMPLE, SELECTION, SUMMARY, WORKERS, Rules, State

RULES = Rules(tasks=(SELECTION, "mrmr", "jmim", "mrmr", "jmim", SAMPLE, SAMPLE, SUMMARY))
# Every sweep rings for every job with work to be had, and what comes back waits for nothing.
SETTINGS = Settings(backoff_seconds=0, resend_seconds=1e-6, max_attempts=RULES.max_attempts)
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
MAX_JOBS = 2

jobs = Bundle("jobs")
workers = st.sampled_from(WORKERS)
numbers = st.integers(0, RULES.last)


class UnitMachine(JobsMachine[UnitProtocol, State, UnitWork]):
    """Some jobs of eight units, and two workers for each."""

    @precondition(lambda self: len(self.states) < MAX_JOBS)
    @rule(target=jobs)
    def submit(self) -> str:
        asked = {"dataset_id": self.dataset_id, "stability": {"n_samples": 2}}
        job_id = self.protocol.submit_comparison(**asked)
        self.states[job_id] = model.start(RULES)
        return job_id

    @rule(job_id=jobs, worker=workers)
    def deliver(self, job_id: str, worker: int) -> None:
        if (job_id, worker) in self.works:
            return
        work = self.protocol.take(job_id)
        self.step(job_id, lambda state: model.claim(state, worker, RULES))
        held = self.states[job_id].workers[worker]
        assert (work and (work.claim.number, work.claim.attempt)) == (held and held[:2])
        if work is not None:
            self.works[job_id, worker] = work

    @rule(job_id=jobs, worker=workers)
    def beat(self, job_id: str, worker: int) -> None:
        if work := self.works.get((job_id, worker)):
            told = self.protocol.beat_unit(work)
            self.step(job_id, lambda state: model.beat(state, worker))
            assert (told is Stop.LOST) == (self.states[job_id].workers[worker] is None)
            if told is Stop.LOST:
                del self.works[job_id, worker]

    @rule(job_id=jobs, worker=workers)
    def succeed(self, job_id: str, worker: int) -> None:
        if work := self.works.pop((job_id, worker), None):
            assert self.protocol.finish(work) == model.holds(self.states[job_id], worker)
            self.step(job_id, lambda state: model.succeed(state, worker, RULES))

    @rule(job_id=jobs, worker=workers, n_units=numbers)
    def go_well(self, job_id: str, worker: int, n_units: int) -> None:
        """For a while, so that the summary is reached too."""
        for _ in range(n_units):
            self.deliver(job_id, worker)
            self.succeed(job_id, worker)

    @rule(job_id=jobs, worker=workers)
    def fail(self, job_id: str, worker: int) -> None:
        if work := self.works.pop((job_id, worker), None):
            assert self.protocol.fail(work) == model.holds(self.states[job_id], worker)
            self.step(job_id, lambda state: model.fail(state, worker, RULES))

    @rule(job_id=jobs, worker=workers)
    def hand_back(self, job_id: str, worker: int) -> None:
        if work := self.works.pop((job_id, worker), None):
            self.protocol.stop(work, Stop.HANDED_BACK)
            self.step(job_id, lambda state: model.hand_back(state, worker))

    @rule(job_id=jobs, worker=workers)
    def die(self, job_id: str, worker: int) -> None:
        self.works.pop((job_id, worker), None)
        self.step(job_id, lambda state: model.die(state, worker))

    @rule(job_id=jobs)
    def cancel(self, job_id: str) -> None:
        self.protocol.cancel(job_id)
        self._end(job_id, Status.CANCELLED)

    @rule(job_id=jobs)
    def keep(self, job_id: str) -> None:
        row = self.protocol.read(job_id)
        asked = row.keep_requested_at or row.finished_at
        with nullcontext() if asked or can_be_kept(row) else pytest.raises(Conflict):
            self.protocol.keep(job_id)
            self.step(job_id, lambda state: model.keep(state, RULES))

    @rule(job_id=jobs)
    def deadline(self, job_id: str) -> None:
        if not self.states[job_id].status.is_final:
            self.protocol.pass_deadline(job_id)
            self._end(job_id, Status.EXPIRED)
            self.sweep()

    @rule(job_id=jobs, number=numbers)
    def lease_ends(self, job_id: str, number: int) -> None:
        units = self.states[job_id].units
        if units and units[number].status is Status.RUNNING:
            mine = (Unit.job_id == job_id, Unit.number == number)
            with self.protocol.database.write() as session, session.begin():
                session.execute(update(Unit).where(*mine).values(lease_until=LONG_AGO))
            self.step(job_id, lambda state: model.lease_ends(state, number))

    @rule()
    def sweep(self) -> None:
        self.protocol.bell.rung.clear()
        with self.protocol.database.write() as session:
            sweep_jobs(session, self.protocol.bell, SETTINGS)
            sweep_units(session, self.protocol.bell, SETTINGS)
        for job_id in self.states:
            self.step(job_id, _swept)
        waiting = {job_id for job_id, s in self.states.items() if model.claimable(s, RULES)}
        assert set(self.protocol.bell.rung) == waiting

    @invariant()
    def the_rows_are_as_the_model_says(self) -> None:
        for job_id, state in self.states.items():
            row = self.protocol.read(job_id)
            assert row.status == state.status
            assert self._units(job_id) == [_tried(u.status, u.attempt) for u in state.units]
            assert self.n_results(job_id) == state.n_results
            assert (row.keep_requested_at is not None) == state.kept
            if not state.status.is_final:
                assert row.n_units_done == state.n_done

    def _end(self, job_id: str, status: Status) -> None:
        if not self.states[job_id].status.is_final:
            self.step(job_id, lambda state: model.end(state, status, RULES))

    def _units(self, job_id: str) -> list[tuple[str, int]]:
        rows = select(Unit.status, Unit.attempt).where(Unit.job_id == job_id)
        with self.protocol.database.read() as session:
            return [_tried(*row) for row in session.execute(rows.order_by(Unit.number))]


def _tried(status: str, attempt: int) -> tuple[str, int]:
    """How often a unit was tried; of one that was left out it does not matter."""
    return status, 0 if status == Status.CANCELLED else attempt


def _swept(state: State) -> State:
    for number in range(len(state.units)):
        if state.units and state.units[number].lease_over:
            state = model.sweep_act(model.sweep_look(state, number), RULES)
    return state


def test_the_service_does_with_units_what_the_model_does(database_url: str) -> None:
    n_moves = drive(UnitMachine, UnitProtocol(database_url), n_examples=12, n_steps=30)
    assert n_moves > 0
