"""Which units a job consists of."""

from __future__ import annotations

from typing import Any, Literal

from app.jobs.specification import Specification, compare_of

SELECTION: Literal["selection"] = "selection"
TRIAL: Literal["trial"] = "trial"
SAMPLE: Literal["sample"] = "sample"
SUMMARY: Literal["summary"] = "summary"

Task = dict[str, Any]


def plan_units(specification: Specification) -> list[Task]:
    """The units in order, the summary last; none for a job that one worker does alone.

    Split by split, so that a method that fails does so early and all have come equally far.
    """
    compare, stability = compare_of(specification), specification.stability
    tasks: list[Task] = []
    if compare is not None:
        tasks += [
            {"kind": TRIAL, "method": label, "split": split}
            for split in range(compare.n_splits)
            for label in compare.labels
        ]
    if stability is not None:
        tasks += [{"kind": SAMPLE, "sample": index} for index in range(stability.n_samples)]
    return [{"kind": SELECTION}, *tasks, {"kind": SUMMARY}] if tasks else []
