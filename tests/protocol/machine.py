"""What machines have in common that drive real SQL at random and hold it against a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test
from sqlalchemy import delete, func, select

from app.db.base import AnyRow
from app.jobs.models import Job, JobResult
from core.results.selection import EXPERIMENTS
from tests.app.protocol import Protocol

P = TypeVar("P", bound=Protocol)
State = TypeVar("State")
Work = TypeVar("Work")


def can_be_kept(row: AnyRow) -> bool:
    """Whether a job's worker has said that the features are chosen."""
    return row.status == "running" and row.phase in EXPERIMENTS


class JobsMachine(RuleBasedStateMachine, Generic[P, State, Work]):
    """Some jobs as the model has them, and what the workers of each have claimed."""

    def __init__(self, protocol: P) -> None:
        super().__init__()
        self.protocol = protocol
        self.dataset_id = protocol.dataset()
        self.states: dict[str, State] = {}
        self.works: dict[tuple[str, int], Work] = {}
        self.n_moves = 0

    def teardown(self) -> None:
        """The next example begins with no job."""
        with self.protocol.database.write() as session, session.begin():
            session.execute(delete(Job))

    def step(self, job_id: str, move: Callable[[State], State]) -> None:
        """The model makes the move that the service has made or is about to make."""
        self.states[job_id] = move(self.states[job_id])
        self.n_moves += 1

    def n_results(self, job_id: str) -> int:
        """How many results a job has."""
        count = select(func.count()).where(JobResult.job_id == job_id)
        with self.protocol.database.read() as session:
            return session.execute(count).scalar_one()


def drive(
    machine: Callable[[P], JobsMachine[P, Any, Any]], protocol: P, n_examples: int, n_steps: int
) -> int:
    """Let chance make the moves, and say how many the service and the model made together."""
    machines: list[JobsMachine[P, Any, Any]] = []

    def make() -> JobsMachine[P, Any, Any]:
        machines.append(machine(protocol))
        return machines[-1]

    run_state_machine_as_test(
        make,  # type: ignore[arg-type]  # it is typed as taking a class alone
        settings=settings(
            max_examples=n_examples,
            stateful_step_count=n_steps,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    protocol.database.dispose()
    return sum(one.n_moves for one in machines)
