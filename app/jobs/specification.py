"""What a job is asked to do: the options of `core` as a checked, completed document."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, StrictInt, StringConstraints, TypeAdapter

from app.errors import FieldError, Invalid, pointer
from app.jobs.destination import Destination
from app.jobs.methods import METHOD_MODELS, InParts, Strict
from app.jobs.state import Priority
from app.webhooks.naming import Url
from core.config import (
    Columns,
    Compare,
    Discretize,
    Evaluate,
    Kind,
    Method,
    SelectionConfig,
    method_from_dict,
)
from core.cost.engines import EngineName
from core.errors import CoreError
from core.names import check_names, nearest, part_name, unfold_choice

MAX_SEED = 2**63 - 1
MAX_K = 100_000
MAX_SUGGESTIONS = 5
MAX_METHODS = 16
MAX_LABELS = 32

EngineChoice = Literal["auto", EngineName]

DatasetId = Annotated[str, StringConstraints(pattern=r"^ds_[0-9a-f]{32}$")]
Name = Annotated[
    str, StringConstraints(min_length=1, max_length=1024, pattern=r"^[^\x00-\x1f\x7f]+$")
]
Title = Annotated[
    str, StringConstraints(min_length=1, max_length=255, pattern=r"^[^\x00-\x1f\x7f]+$")
]
Label = Annotated[str, StringConstraints(max_length=256, pattern=r"^[^\x00-\x1f\x7f]*$")]
LabelKey = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
# One mistake is enough: there may be 100,000.
Names = Annotated[list[Name], Field(fail_fast=True)]
AnyMethod: Any = Annotated[METHOD_MODELS, Field(discriminator="name")]
_GSM_CPD = TypeAdapter(AnyMethod).validate_python({"name": "gsm_cpd"})


def _require_few(labels: Any) -> Any:
    """Before each is looked at: there may be 100,000."""
    if isinstance(labels, dict) and len(labels) > MAX_LABELS:
        raise ValueError(f"at most {MAX_LABELS} labels, not {len(labels)}")
    return labels


Labels = Annotated[
    dict[LabelKey, Label], BeforeValidator(_require_few), Field(max_length=MAX_LABELS)
]


class ColumnChoice(Strict):
    """Which features take part."""

    include: Names = Field(default=[], description="Chosen first, in this order.")
    exclude: Names = Field(default=[], description="Left out of the search.")
    candidates: Names | None = Field(
        default=None,
        description="The only ones searched, when given. Where no method of the job is GSM-CPD, "
        "columns that are neither candidates nor included are not read, and dropped as excluded.",
    )


class DiscretizeChoice(Strict):
    """How continuous columns are cut."""

    bins: Annotated[StrictInt, Field(ge=2, le=255)] = 5
    strategy: Literal["auto", "uniform", "quantile", "supervised"] = Field(
        default="auto",
        description="With auto, held-out rows decide between equal width, equal share and cuts "
        "where the label changes (supervised).",
    )
    target_bins: Annotated[StrictInt, Field(ge=2, le=255)] = Field(
        default=5, description="Classes that a continuous target is cut into."
    )
    missing: Literal["auto", "level", "ignore"] = Field(
        default="auto",
        description="Whether a missing value is a level of its own: with auto, where it tells "
        "about the label.",
    )
    kinds: Annotated[dict[Name, Kind], InParts] = Field(
        default={}, description="Columns whose kind the rule is not to decide."
    )


class EvaluateChoice(Strict):
    """The held-out accuracy curve."""

    n_splits: Annotated[StrictInt, Field(ge=1, le=100)] = 5
    test_fraction: Annotated[float, Field(strict=True, ge=0.01, le=0.99)] = 0.3
    values: Literal["codes", "raw"] = "codes"


class CompareChoice(Strict):
    """Several methods on the same splits, ranked by held-out accuracy."""

    methods: Annotated[list[AnyMethod], Field(min_length=2, max_length=MAX_METHODS)] = Field(
        description="Each like `method`; none twice."
    )
    n_splits: Annotated[StrictInt, Field(ge=2, le=100)] = 10
    test_fraction: Annotated[float, Field(strict=True, ge=0.01, le=0.99)] = 0.3
    values: Literal["codes", "raw"] = "codes"


class StabilityChoice(Strict):
    """How often each feature is chosen on random halves of the rows."""

    n_samples: Annotated[StrictInt, Field(ge=2, le=1000)] = 50


# Options of this release: kept only where they are asked for, since older workers refuse unknown
# names.
UNASKED: dict[str, Any] = {"destination": None, "engine": "auto"}


class Specification(Strict):
    """One job, completed: what ran is on record."""

    dataset_id: DatasetId
    target: Name = Field(description="The column to be informed about.")
    k: Annotated[StrictInt, Field(ge=1, le=MAX_K)] | Literal["auto"] = Field(
        default="auto", description="How many features; `auto` stops at the suggested number."
    )
    method: AnyMethod = Field(default_factory=lambda: _GSM_CPD, description="By `name`.")
    columns: ColumnChoice = ColumnChoice()
    discretize: DiscretizeChoice = DiscretizeChoice()
    weight_column: Name | None = Field(
        default=None, description="How often each row counts; 1e15 in all at most."
    )
    seed: Annotated[StrictInt, Field(ge=0, le=MAX_SEED)] = 0
    evaluate: EvaluateChoice | None = None
    compare: CompareChoice | None = Field(
        default=None, description="Beside the selection; curves go to `k`, or 50 with `auto`."
    )
    stability: StabilityChoice | None = Field(default=None, description="Of the selection.")
    engine: EngineChoice = Field(
        default=UNASKED["engine"],
        description="Where the table lies, which changes nothing about the answer: in the memory "
        "of one worker, in a file beside it, or on a Dask cluster, where tables of less than 34 "
        "million cells never lie. `auto` takes memory if that holds it, else the cluster if there "
        "is one, else a file.",
    )
    deadline_seconds: Annotated[StrictInt, Field(ge=1)] | None = Field(
        default=None, description="Counted from the submission; the longest allowed when left out."
    )
    title: Title | None = Field(default=None, description="What people call it; can be changed.")
    priority: Priority = Field(
        default=Priority.NORMAL, description="Among the tenant's own jobs that wait."
    )
    labels: Labels = Field(default={})
    notify: Url | None = Field(
        default=None, description="An address that is told of the job's end, as webhooks are."
    )
    destination: Destination | None = Field(
        default=UNASKED["destination"],
        description="Where the files of the result are written; see `delivery`.",
    )

    def completed(self, max_deadline_seconds: int) -> Self:
        """With the deadline that applies, after every option has passed the engine's own checks."""
        config_of(self)
        compare_of(self)
        seconds = self.deadline_seconds or max_deadline_seconds
        if seconds > max_deadline_seconds:
            sentence = f"must be at most {max_deadline_seconds}, not {seconds}"
            raise _invalid([FieldError("/deadline_seconds", f"deadline_seconds {sentence}")])
        completed = self.model_copy(update={"deadline_seconds": seconds})
        if "deadline_seconds" not in self.model_fields_set:
            completed.model_fields_set.remove("deadline_seconds")
        return completed

    def to_row(self) -> dict[str, Any]:
        """As it is kept: for workers of the version before too, without what it does not know."""
        unasked = {name for name, usual in UNASKED.items() if getattr(self, name) == usual}
        return self.model_dump(mode="json", exclude=unasked)

    def digest(self) -> str:
        """A hash of what the caller wrote: of no default, which another version may change."""
        return hashlib.sha256(self.model_dump_json(exclude_unset=True).encode()).hexdigest()


def with_unasked(kept: dict[str, Any]) -> dict[str, Any]:
    """A specification out of its row, completed."""
    return {**UNASKED, **kept}


def config_of(specification: Specification, n_threads: int = 0) -> SelectionConfig:
    """The options of the selection; what `core` refuses is Invalid, with the pointer."""
    document = specification.model_dump()
    method = _method_of(document["method"], "method")
    try:
        return SelectionConfig(
            specification.k,
            method=method,
            columns=Columns(**_tuples(document["columns"])),
            discretize=Discretize(**document["discretize"]),
            weight_column=specification.weight_column,
            evaluate=Evaluate(**document["evaluate"]) if document["evaluate"] else None,
            seed=specification.seed,
            n_threads=n_threads,
        )
    except CoreError as error:
        raise _refused(error) from error


def compare_of(specification: Specification) -> Compare | None:
    """The options of the comparison, where one is asked for."""
    if specification.compare is None:
        return None
    document = specification.compare.model_dump()
    methods = [
        _method_of(method, f"compare.methods.{i}") for i, method in enumerate(document["methods"])
    ]
    try:
        return Compare(**{**document, "methods": tuple(methods)})
    except CoreError as error:
        raise _refused(error) from error


def methods_beside(specification: Specification) -> Sequence[Method]:
    """The methods that are compared on the table of the selection."""
    compare = compare_of(specification)
    return compare.methods if compare else ()


def _method_of(document: dict[str, Any], path: str) -> Method:
    try:
        return method_from_dict(document)
    except CoreError as error:
        raise _refused(error, path) from error


def check_columns(specification: Specification, columns: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a specification that no dataset with columns of this profile can meet."""
    names = [column["name"] for column in columns]
    parts = parts_of(columns, specification.target, specification.weight_column)
    known = {*names, *chain(*parts.values())}
    unknown = [(pointer, n) for pointer, n in _mentions(specification) if n not in known]
    errors = [
        FieldError(p, f"the dataset has no column {n!r}{nearest(n, names)}")
        for p, n in unknown[:MAX_SUGGESTIONS]
    ]
    if errors:
        raise Invalid(errors[0].detail, code="unknown_column", errors=errors)
    try:
        searched = [part for name in names for part in parts.get(name, [name])]
        config = unfold_choice(config_of(specification), parts)
        check_names(searched, specification.target, config)
    except CoreError as error:
        raise _refused(error) from error


def parts_of(
    columns: Iterable[Mapping[str, Any]], target: str, weight_column: str | None
) -> dict[str, list[str]]:
    """Of each column of times that is a feature, the names of the numbers that are searched."""
    others = {target, weight_column}
    return {
        column["name"]: [part_name(column["name"], part) for part in column["parts"]]
        for column in columns
        if column.get("parts") and column["name"] not in others
    }


def _mentions(specification: Specification) -> Iterator[tuple[str, str]]:
    yield "/target", specification.target
    if specification.weight_column is not None:
        yield "/weight_column", specification.weight_column
    columns = specification.columns
    lists = {"include": columns.include, "exclude": columns.exclude}
    for field, names in {**lists, "candidates": columns.candidates or []}.items():
        for index, name in enumerate(names):
            yield f"/columns/{field}/{index}", name
    for name in specification.discretize.kinds:
        yield pointer(["discretize", "kinds", name]), name


def _refused(error: CoreError, prefix: str = "") -> Invalid:
    path = f"{prefix}.{error.field.removeprefix('method.')}" if prefix else error.field
    return _invalid([FieldError(pointer(path.split(".")), str(error))])


def _invalid(errors: Sequence[FieldError]) -> Invalid:
    return Invalid(errors[0].detail, errors=errors)


def _tuples(document: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in document.items()}
