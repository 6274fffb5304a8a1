"""Comparisons and samples in a specification: completed, or refused with the pointer."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from app.errors import Invalid
from app.jobs.specification import Specification
from app.jobs.units.plan import plan_units

PLAIN = {"dataset_id": "ds_" + "0" * 32, "target": "y"}


def complete(**fields: Any) -> Specification:
    return Specification.model_validate({**PLAIN, **fields}).completed(3600)


def test_methods_are_completed_with_their_parameters() -> None:
    document = complete(compare={"methods": [{"name": "mrmr"}, {"name": "rjmi"}]}).model_dump()
    assert document["compare"]["n_splits"] == 10
    assert document["compare"]["methods"][1]["alpha"] == 1.01
    assert document["stability"] is None


@pytest.mark.parametrize(
    ("methods", "pointer"),
    [
        ([{"name": "mrmr"}, {"name": "jmim"}, {"name": "mrmr"}], "/compare/methods/2"),
        ([{"name": "mrmr"}, {"name": "rjmi", "alpha": 1.0}], "/compare/methods/1/alpha"),
    ],
)
def test_what_the_engine_refuses_has_a_pointer(methods: list[Any], pointer: str) -> None:
    with pytest.raises(Invalid) as refusal:
        complete(compare={"methods": methods})
    assert [error.pointer for error in refusal.value.errors] == [pointer]


@pytest.mark.parametrize(
    "fields",
    [
        {"compare": {"methods": [{"name": "mrmr"}]}},
        {"compare": {"methods": [{"name": "mrmr"}, {"name": "magic"}]}},
        {"compare": {"methods": [{"name": "mrmr"}, {"name": "jmim"}], "n_splits": 1}},
        {"compare": {"methods": [{"name": "mrmr"}, {"name": "jmim"}], "repeats": 3}},
        {"stability": {"n_samples": 1}},
    ],
)
def test_what_has_no_meaning_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        complete(**fields)


def test_a_plain_job_has_no_units() -> None:
    assert plan_units(complete()) == []
    assert [task["kind"] for task in plan_units(complete(stability={"n_samples": 2}))] == [
        "selection",
        "sample",
        "sample",
        "summary",
    ]


def test_what_was_asked_does_not_change_with_what_is_usual() -> None:
    """A retry after the service was set anew is the same request."""
    asked = Specification.model_validate(PLAIN)
    assert asked.completed(3600).deadline_seconds == 3600
    assert asked.completed(3600).digest() == asked.completed(7200).digest() == asked.digest()
    spelt_out = Specification.model_validate({**PLAIN, "deadline_seconds": 3600})
    assert spelt_out.completed(3600).digest() != asked.digest()
    assert complete(method={"name": "mrmr"}).digest() != asked.digest()
