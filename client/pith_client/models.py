"""What the service answers, typed; `document` always holds the whole answer as it came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Literal, Self

FINAL = ("succeeded", "failed", "cancelled", "expired")

Document = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Record:
    """Made from a document; fields that a newer service adds stay in `document`."""

    document: Document = field(repr=False, compare=False)

    @classmethod
    def read(cls, document: Document) -> Self:
        """The answer that a document holds."""
        names = {f.name for f in fields(cls)} - {"document"}
        values = {name: _value(name, document.get(name)) for name in names}
        return cls(**values, document=document)


def _value(name: str, value: Any) -> Any:
    return datetime.fromisoformat(value) if value and name.endswith("_at") else value


@dataclass(frozen=True, kw_only=True)
class Actor(Record):
    """Who did something: a key by its id, or the subject of a token by its issuer."""

    kind: Literal["key", "subject", "local", "operator", "service"]
    id: str
    name: str
    issuer: str | None


@dataclass(frozen=True, kw_only=True)
class Submitted(Record):
    """What somebody brought."""

    @property
    def submitted_by(self) -> Actor | None:
        """Who did; None for what is older than the audit."""
        actor = self.document.get("submitted_by")
        return Actor.read(actor) if actor else None


@dataclass(frozen=True, kw_only=True)
class Column(Record):
    """What reading found in one column."""

    name: str
    kind: Literal["integer", "number", "boolean", "text", "time"]
    levels: int
    missing: int
    infinite: int
    min: float | None
    max: float | None
    notes: list[str]
    detected: Literal["number", "category", "boolean", "time"] | None
    chosen: bool
    why: str | None
    reading: Document | None
    unfit: int
    unfit_values: list[str]
    examples: list[str]
    parts: list[str]


@dataclass(frozen=True, kw_only=True)
class TableWarning(Record):
    """Something about the table that a reader should know, in a sentence that names columns."""

    code: str
    columns: list[str]
    message: str


@dataclass(frozen=True, kw_only=True)
class Dataset(Submitted):
    """An upload and how far reading it has come."""

    id: str
    status: Literal["processing", "ready", "rejected"]
    name: str | None
    format: str
    sha256: str
    n_bytes: int
    n_rows: int | None
    n_columns: int | None
    reason: str | None
    version: int
    previous_id: str | None
    labels: dict[str, str]
    created_at: datetime
    finished_at: datetime | None

    @property
    def columns(self) -> list[Column]:
        """The profile of every column; none in lists and before the dataset is ready."""
        return [Column.read(column) for column in self.document.get("columns", ())]

    @property
    def warnings(self) -> list[TableWarning]:
        """What the profile tells about trouble ahead, whatever the target."""
        return [TableWarning.read(warning) for warning in self.document.get("warnings", ())]


@dataclass(frozen=True, kw_only=True)
class JobError(Record):
    """Why a job failed or expired."""

    code: str
    message: str
    retryable: bool


@dataclass(frozen=True, kw_only=True)
class JobState(Submitted):
    """What a list and a poll tell of a job."""

    id: str
    status: Literal["queued", "running", "succeeded", "failed", "cancelled", "expired"]
    dataset_id: str
    title: str | None
    phase: str | None
    progress: float
    chosen: list[str]
    attempts: int
    labels: dict[str, str]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def is_final(self) -> bool:
        """Whether it will never change again."""
        return self.status in FINAL

    @property
    def partial(self) -> bool:
        """Whether its result lacks what was not done when it was ended."""
        return bool(self.document.get("partial"))

    @property
    def error(self) -> JobError | None:
        """Why it failed or expired."""
        error = self.document.get("error")
        return JobError.read(error) if error else None


@dataclass(frozen=True, kw_only=True)
class JobSummary(JobState):
    """A job in a list, with the first few of what it chose."""

    target: str
    k: int | Literal["auto"]
    method: str
    compared: list[str] | None


@dataclass(frozen=True, kw_only=True)
class Export(Record):
    """How far the files of a result have come on their way to a destination."""

    status: Literal["pending", "delivered", "failed"]
    connection: str
    path: str
    attempts: int
    n_files: int | None
    n_written: int
    n_bytes: int
    error: str | None
    delivered_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Job(JobState):
    """A job as it was when it was asked for."""

    seconds_left: float | None
    loglik: float | None
    specification: dict[str, Any]

    @property
    def delivery(self) -> Export | None:
        """Of the result, where it is to go somewhere."""
        delivery = self.document.get("delivery")
        return Export.read(delivery) if delivery else None


@dataclass(frozen=True, kw_only=True)
class Estimate(Record):
    """What a job will take on a worker that does nothing else; `why` says so in words.

    `measured` tells whether a worker has measured its own speed, or a usual core's is meant.
    """

    memory_bytes: int
    seconds: float
    phase_seconds: dict[str, float]
    engine: str
    why: str
    measured: bool


@dataclass(frozen=True, kw_only=True)
class Connection(Record):
    """A place that data may be read from, or results be written to, by its name."""

    name: str
    type: str
    description: str


@dataclass(frozen=True, kw_only=True)
class Event(Record):
    """Something that happened to a job."""

    seq: int
    at: str
    kind: str
    data: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Method(Record):
    """A method; `parameters` is the JSON schema of its options, with defaults and limits."""

    name: str
    summary: str
    fits_model: bool
    parameters: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Selected(Record):
    """One chosen feature; information is in nats, and only `gsm_cpd` has it.

    Gains and information are the fitted model's own; `supported` says whether rows held out vouch
    for the feature.
    """

    rank: int
    name: str
    gain: float
    decided_by: str
    exact: bool
    mi_label: float | None
    mi_label_se: float | None
    mi_latent: float | None
    mi_latent_se: float | None
    runner_up: str | None
    margin: float | None
    supported: bool | None


@dataclass(frozen=True, kw_only=True)
class HeldOut(Record):
    """What the first K features told about the target on rows that nothing had seen, in nats.

    `information` and `standard_error` are for K = 0, 1, ...; `entropy` is all there is to know.
    """

    entropy: float
    information: list[float]
    standard_error: list[float]
    all_features: float | None
    all_features_se: float | None
    n_folds: int
    n_rows: int

    @property
    def share(self) -> list[float]:
        """The information as a share of all there is to know."""
        return [told / self.entropy if self.entropy else 0.0 for told in self.information]


@dataclass(frozen=True, kw_only=True)
class Factor(Record):
    """P(level | state) of one variable: a row for each level, a column for each state."""

    name: str
    levels: list[str]
    factor: list[list[float]]


@dataclass(frozen=True, kw_only=True)
class FittedModel(Record):
    """One fitted model; `weights` is P(state), and the last variable is the target."""

    rank: int
    family: str
    weights: list[float]

    @property
    def variables(self) -> list[Factor]:
        """The factor of every variable."""
        return [Factor.read(variable) for variable in self.document["variables"]]
