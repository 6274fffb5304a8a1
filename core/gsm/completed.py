"""What a run of the method has completed, as plain arrays, so that another goes on from there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

import numpy as np

from core.arrays import Values, stack, unstack
from core.cpd.halfway import Halfway
from core.cpd.layout import Parameters
from core.cpd.model import CpdFit
from core.crossfit.folds import Plan
from core.gsm.objective import Information
from core.gsm.step import Step
from core.results.documents import read
from core.results.selection import plain

Arrays = dict[str, Values]
NOBODY = -1
REFIT = "refit/"
PLAIN, HALFWAY = "plain/", "halfway/"
MOST_KEPT = 32 << 20
"""Bytes of a fit under way: more would take the database longer to write than it is worth."""

FIT_ARRAYS = ("weights", "factors", "n_levels", "loglik", "objective", "ended")


@dataclass(frozen=True)
class Refit:
    """Where remodelling stands after a step: what a repetition of the step could not tell."""

    parameters: Parameters
    n_evaluations: int


@dataclass
class Started:
    """Fits under way: the models of the plainest cut, once there are any, and where others are."""

    plain_fits: list[CpdFit] = field(default_factory=list)
    halfway: Halfway | None = None

    def keep(self, halfway: Halfway) -> None:
        """Where a fit stands now, if that is small enough."""
        self.halfway = halfway if halfway.n_bytes <= MOST_KEPT else None

    def next_table(self, plain_fits: list[CpdFit]) -> None:
        """The plainest cut is fitted, and the other begins."""
        self.plain_fits, self.halfway = plain_fits, None

    @property
    def n_iter(self) -> int:
        """Iterations that there are."""
        return _n_iter(self.plain_fits) + (self.halfway.n_iter if self.halfway else 0)

    def to_arrays(self) -> Arrays:
        """Told apart from fits that are done by their names."""
        arrays = _prefixed(PLAIN, _fit_arrays(self.plain_fits))
        if self.halfway is not None:
            arrays |= _prefixed(HALFWAY, self.halfway.to_arrays())
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Values]) -> Started:
        """What `to_arrays` came from."""
        halfway = _without(HALFWAY, arrays)
        return cls(
            _fits(_without(PLAIN, arrays)), Halfway.from_arrays(halfway) if halfway else None
        )


@dataclass
class Completed:
    """Filled in by a run as it goes: the plan, fits, then step by step.

    If the plainest cut has a say, the second half of the fits are to that.

    `refit` belongs to the last step of a run that remodels.
    """

    plan: Plan | None = None
    started: Started = field(default_factory=Started)
    fits: list[CpdFit] | None = None
    steps: list[Step] = field(default_factory=list)
    refit: Refit | None = None

    def complete_fits(self, fits: list[CpdFit]) -> None:
        """These are the fits; where they stood before is of no use any more."""
        self.fits, self.started = fits, Started()

    def sizes(self) -> dict[str, int]:
        """How much of each phase there is."""
        return {
            "rank": int(self.plan is not None),
            "fit": self.started.n_iter if self.fits is None else 1 + _n_iter(self.fits),
            "select": len(self.steps),
        }

    def to_parts(self) -> dict[str, Arrays]:
        """What there is, by phase."""
        parts: dict[str, Arrays] = {}
        if self.plan is not None:
            document = json.dumps(plain(self.plan)).encode()
            parts["rank"] = {"plan": np.frombuffer(document, dtype=np.uint8)}
        if self.fits is not None:
            parts["fit"] = _fit_arrays(self.fits)
        elif self.started.n_iter:
            parts["fit"] = self.started.to_arrays()
        if self.steps:
            parts["select"] = {**_step_arrays(self.steps), **_refit_arrays(self.refit)}
        return parts

    @classmethod
    def from_parts(cls, parts: Mapping[str, Mapping[str, Values]]) -> Completed:
        """What `to_parts` came from."""
        completed = cls()
        if "rank" in parts:
            completed.plan = read(json.loads(parts["rank"]["plan"].tobytes()), Plan)
        if "fit" in parts:
            completed.started = Started.from_arrays(parts["fit"])
            completed.fits = _fits(parts["fit"]) or None
        if "select" in parts:
            completed.steps = _steps(parts["select"])
            completed.refit = _refit(parts["select"])
        return completed


def _prefixed(prefix: str, arrays: Arrays) -> Arrays:
    return {prefix + name: values for name, values in arrays.items()}


def _without(prefix: str, arrays: Mapping[str, Values]) -> Arrays:
    """Those with the prefix, by the rest of their names."""
    return {n.removeprefix(prefix): values for n, values in arrays.items() if n.startswith(prefix)}


def _n_iter(fits: Sequence[CpdFit]) -> int:
    return sum(fit.n_iter for fit in fits)


def _fit_arrays(fits: Sequence[CpdFit]) -> Arrays:
    arrays: Arrays = {}
    for i, fit in enumerate(fits):
        arrays[f"{i}/weights"] = fit.weights
        arrays[f"{i}/factors"], arrays[f"{i}/n_levels"] = stack(fit.factors)
        arrays[f"{i}/loglik"], arrays[f"{i}/objective"] = fit.loglik, fit.objective
        arrays[f"{i}/ended"] = np.array([fit.n_iter, fit.converged], dtype=np.int64)
    return arrays


def _fits(arrays: Mapping[str, Values]) -> list[CpdFit]:
    n_fits = sum(name.endswith("/ended") and not name.startswith(PLAIN) for name in arrays)
    return [_fit({name: arrays[f"{i}/{name}"] for name in FIT_ARRAYS}) for i in range(n_fits)]


def _fit(arrays: Mapping[str, Values]) -> CpdFit:
    n_iter, converged = arrays["ended"]
    return CpdFit(
        weights=arrays["weights"],
        factors=unstack(arrays["factors"], arrays["n_levels"]),
        loglik=arrays["loglik"],
        objective=arrays["objective"],
        n_iter=int(n_iter),
        converged=bool(converged),
    )


def _step_arrays(steps: Sequence[Step]) -> Arrays:
    numbers = [(s.latent, s.latent_se, s.label, s.label_se, s.margin) for s in steps]
    return {
        "feature": np.array([s.feature for s in steps]),
        "runner_up": np.array([NOBODY if s.runner_up is None else s.runner_up for s in steps]),
        "decided_by": np.array([s.decided_by for s in steps]),
        "exact": np.array([s.exact for s in steps]),
        "informed": np.array([s.informed for s in steps]),
        "n_evaluations": np.array([s.n_evaluations for s in steps]),
        "numbers": np.array(numbers, dtype=np.float64),  # None becomes NaN
        "information": np.array([astuple(s.information) for s in steps]),
        "bounds": np.array([s.bounds for s in steps]),
    }


def _steps(arrays: Mapping[str, Values]) -> list[Step]:
    loaded = {name: arrays[name] for name in arrays if not name.startswith(REFIT)}
    return [
        _step({name: values[i] for name, values in loaded.items()})
        for i in range(len(loaded["feature"]))
    ]


def _step(at: Mapping[str, Any]) -> Step:
    latent, latent_se, label, label_se, margin = map(float, at["numbers"])
    return Step(
        feature=int(at["feature"]),
        decided_by=at["decided_by"].item(),
        exact=bool(at["exact"]),
        latent=latent,
        latent_se=latent_se,
        label=label,
        label_se=label_se,
        runner_up=None if at["runner_up"] == NOBODY else int(at["runner_up"]),
        margin=None if np.isnan(margin) else margin,
        bounds=at["bounds"],
        information=Information(*map(float, at["information"])),
        n_evaluations=int(at["n_evaluations"]),
        informed=bool(at["informed"]),
    )


def _refit_arrays(refit: Refit | None) -> Arrays:
    if refit is None:
        return {}
    return {
        f"{REFIT}weights": refit.parameters.weights,
        f"{REFIT}probs": refit.parameters.probs,
        f"{REFIT}n_evaluations": np.array(refit.n_evaluations),
    }


def _refit(arrays: Mapping[str, Values]) -> Refit | None:
    if f"{REFIT}probs" not in arrays:
        return None
    parameters = Parameters(arrays[f"{REFIT}weights"], arrays[f"{REFIT}probs"])
    return Refit(parameters, int(arrays[f"{REFIT}n_evaluations"]))
