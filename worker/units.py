"""One unit of a job: claim, compute, keep what came of it. No Celery in here."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import structlog
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from app.cluster.faults import ClusterAway
from app.db.base import AnyRow
from app.jobs.models import JobResult
from app.jobs.runs import ring_next
from app.jobs.specification import Specification, compare_of, config_of, methods_beside
from app.jobs.state import Status, Stop
from app.jobs.units import repository, service
from app.jobs.units.plan import SAMPLE, SELECTION, SUMMARY, TRIAL
from app.jobs.units.service import UnitWork
from app.logs import job_context
from core.config import Compare, Evaluate, SelectionConfig
from core.data.preparation import Prepared, preparing, unfold
from core.experiments.comparison import number_of_features, summarise_trials
from core.experiments.ground import Ground
from core.experiments.stability import Found, choose_sample, summarise_samples
from core.experiments.trial import hold_trial
from core.results.documents import read
from core.results.measures import Comparison, Stability, Trial, find_missing
from core.results.selection import Progress
from worker.heartbeat import Heartbeat, Stopped
from worker.inputs import open_input
from worker.patience import patiently
from worker.phases import end_run, run_span
from worker.process import Process
from worker.recorder import QuietRecorder, Recorder, finite
from worker.runner import compute, explain
from worker.sizes import check_document

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Output:
    """What came of a unit; `data` is what its event tells."""

    document: dict[str, Any]
    arrays: bytes | None = None
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """A job's data, as its units need it."""

    specification: Specification
    config: SelectionConfig
    prepared: Prepared
    ground: Ground

    @property
    def k(self) -> int | None:
        """How many features, or None for `auto`."""
        return None if self.config.k == "auto" else self.config.k

    @property
    def is_narrow(self) -> bool:
        """Whether columns are left out that older versions number, too."""
        return len(self.config.columns.exclude) > len(self.specification.columns.exclude)


def run_unit(process: Process, job_id: str) -> bool:
    """Claim the next unit of a job and bring it to an end; False when there is none."""
    with process.database.write() as session:
        max_running, owner = process.settings.tenant_max_running_jobs, process.new_owner()
        work = service.claim(session, process.bell, job_id, owner, process.lease, max_running)
    if work is None:
        return False
    name, about = f"run {work.task['kind']}", {"attempt": work.claim.attempt}
    with run_span(name, work) as span, job_context(job_id, unit=work.claim.number, **about):
        log.info("unit started", task=work.task)
        outcome = _execute(process, work)
        end_run(name, span, outcome)
        log.info("unit ended", outcome=outcome)
    with process.database.write() as session:
        ring_next(session, process.bell, work.tenant, max_running)
    return True


def _execute(process: Process, work: UnitWork) -> str:
    recorder = Recorder() if work.task["kind"] == SELECTION else QuietRecorder()
    try:
        with Heartbeat(process, work.claim, recorder) as heartbeat:
            heartbeat.check()
            output = COMPUTE[work.task["kind"]](process, work, heartbeat)
    except (Stopped, OperationalError, ClusterAway) as ended:  # what is away is not its fault
        reason = ended.reason if isinstance(ended, Stopped) else Stop.HANDED_BACK
        patiently(process, lambda session: service.stop(session, process.bell, work.claim, reason))
        return reason
    except Exception as error:  # every fault ends the unit, and none the worker
        failure = explain(error)
        patiently(process, lambda session: service.fail(session, process.bell, work.claim, failure))
        return f"failed: {failure.code}"
    return "succeeded" if _keep(process, work, recorder, output) else "lost"


def _keep(process: Process, work: UnitWork, recorder: Recorder, output: Output) -> bool:
    values, events = recorder.close()
    if work.task["kind"] == SELECTION:
        # With k="auto" more were tried than the result keeps.
        values["chosen"] = [feature["name"] for feature in output.document["selected"]]
        values["phase"] = "compare" if work.specification.get("compare") else "resample"

    def write(session: Session) -> bool:
        if work.task["kind"] == SUMMARY:
            return service.complete(session, work.claim, _result(work, output))
        kept = (output.document, output.arrays, values, events, output.data)
        return service.succeed(session, process.bell, work.claim, *kept)

    return patiently(process, write)


def _result(work: UnitWork, output: Output) -> JobResult:
    return JobResult(
        job_id=work.claim.job_id,
        tenant=work.tenant,
        document=output.document,
        arrays=output.arrays,
    )


def _select(process: Process, work: UnitWork, heartbeat: Heartbeat) -> Output:
    result = compute(process, work, heartbeat)
    return Output(result.document, result.arrays)


def _load(process: Process, work: UnitWork, heartbeat: Heartbeat) -> Table:
    """The table of the unit's job, which most likely is that of the unit before."""
    job_id = work.claim.job_id
    if job_id not in process.tables:
        process.tables.clear()
        process.tables[job_id] = _prepare(process, work, heartbeat)
        log.info("table prepared")
    table: Table = process.tables[job_id]
    return table


def _prepare(process: Process, work: UnitWork, heartbeat: Heartbeat) -> Table:
    with open_input(process, work, heartbeat) as given:
        specification, target = given.specification, given.specification.target
        config = config_of(specification, process.n_threads)
        where = given.engine, given.origin, heartbeat.check
        beside = methods_beside(specification)
        unfolded = unfold(given.columns, target, config, beside, *where)
        columns, config = unfolded.columns, unfolded.config
        there = preparing(columns, target, config, lambda _: heartbeat.check(), *where)
        with there as encoded:
            prepared = encoded.at_hand()
        compare = compare_of(specification)
        how = Evaluate() if compare is None else compare.evaluate
        return Table(specification, config, prepared, Ground.of(columns, prepared, how))


def _tell(heartbeat: Heartbeat) -> Callable[[float], None]:
    return lambda done: heartbeat.report(Progress(phase="evaluate", fraction=done))


def _hold_trial(process: Process, work: UnitWork, heartbeat: Heartbeat) -> Output:
    table = _load(process, work, heartbeat)
    compare = _compare(table)
    trial = hold_trial(
        table.ground,
        number_of_features(table.ground, table.k),
        compare.methods[compare.labels.index(work.task["method"])],
        work.task["split"],
        compare.evaluate,
        on_progress=_tell(heartbeat),
        timer=time.perf_counter,
    )
    told = {"seconds": trial.seconds, "accuracy": trial.accuracy}
    return Output(finite(asdict(trial)), data=told)


def _compare(table: Table) -> Compare:
    compare = compare_of(table.specification)
    assert compare is not None  # by the plan
    return compare


def _choose_sample(process: Process, work: UnitWork, heartbeat: Heartbeat) -> Output:
    table = _load(process, work, heartbeat)
    with process.database.read() as session:
        selection = repository.read_selection(session, work.claim.job_id)
    chosen = choose_sample(
        table.prepared.table,
        table.config.method,
        Found(
            len(selection["selected"]),
            selection["rank"],
            [column["strategy"] for column in selection["encoding"][:-1]],
            # Older versions do not say these.
            selection.get("equal_width_heard", False),
            selection.get("counts_heard", False),
        ),
        work.task["sample"],
        _tell(heartbeat),
    )
    if table.is_narrow:
        return Output({"features": [table.prepared.names[feature] for feature in chosen]})
    return Output({"chosen": [int(feature) for feature in chosen]})


def _summarise(process: Process, work: UnitWork, heartbeat: Heartbeat) -> Output:
    table = _load(process, work, heartbeat)
    process.tables.clear()  # the last unit of its job
    with process.database.read() as session:
        units = repository.read_units(session, work.claim.job_id)
        arrays = repository.read_arrays(session, work.claim.job_id)
    comparison, stability = _comparison(table, units), _stability(table, units)
    compare, samples = table.specification.compare, table.specification.stability
    missing = find_missing(
        (
            "comparison",
            comparison.n_splits if comparison else 0,
            compare.n_splits if compare else 0,
        ),
        ("stability", stability.n_samples if stability else 0, samples.n_samples if samples else 0),
    )
    selection = units[0].output
    document = {
        **selection,
        "comparison": comparison and asdict(comparison),
        "stability": stability and asdict(stability),
        "missing": [*selection.get("missing", ()), *map(asdict, missing)],
    }
    return Output(check_document(finite(document)), arrays)


def _comparison(table: Table, units: Sequence[AnyRow]) -> Comparison | None:
    if table.specification.compare is None:
        return None
    compare = _compare(table)
    trials: dict[tuple[int, int], Trial] = {}
    failures: dict[int, dict[str, Any]] = {}
    for unit in (unit for unit in units if unit.task["kind"] == TRIAL):
        method = compare.labels.index(unit.task["method"])
        if unit.status == Status.SUCCEEDED:
            trials[method, unit.task["split"]] = read(unit.output, Trial)
        elif unit.status == Status.FAILED:
            failures.setdefault(method, unit.error)
    k = number_of_features(table.ground, table.k)
    return summarise_trials(table.ground, k, compare, trials, failures)


def _stability(table: Table, units: Sequence[AnyRow]) -> Stability | None:
    samples = [unit for unit in units if unit.task["kind"] == SAMPLE]
    outputs = [unit.output for unit in samples if unit.status == Status.SUCCEEDED]
    chosen = [_places(table, output) for output in outputs]
    selected = [feature["name"] for feature in units[0].output["selected"]]
    return summarise_samples(table.prepared.table, table.prepared.names, selected, chosen)


def _places(table: Table, output: Mapping[str, Any]) -> list[int]:
    """Where the features of a sample are among the columns; a sample of another version fails."""
    if table.is_narrow:
        return [table.prepared.names.index(name) for name in output["features"]]
    chosen: list[int] = output["chosen"]
    return chosen


COMPUTE: dict[str, Callable[[Process, UnitWork, Heartbeat], Output]] = {
    SELECTION: _select,
    TRIAL: _hold_trial,
    SAMPLE: _choose_sample,
    SUMMARY: _summarise,
}
