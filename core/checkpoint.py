"""What a run has completed, as plain arrays: a run that is given it goes on from there.

Every part is a function of data, configuration and seed alone, so the result is the same byte for
byte, whether a run was interrupted or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.cpd.bank import Parameters
from core.cpd.model import CpdFit
from core.experiments import Trial
from core.results import RankScore
from core.selection.greedy import Step
from core.selection.objective import Information

Arrays = dict[str, NDArray[Any]]
NOBODY = -1


@dataclass(frozen=True)
class Refit:
    """Where remodelling stands after a step: what a repetition of the step could not tell."""

    parameters: Parameters
    n_evaluations: int


@dataclass
class Checkpoint:
    """Filled in by a run as it goes: rank search, fits, step by step, then split by split.

    `refit` belongs to the last step of a run that remodels.
    """

    rank_search: tuple[RankScore, ...] | None = None
    fits: list[CpdFit] | None = None
    steps: list[Step] = field(default_factory=list)
    refit: Refit | None = None
    trials: list[Trial] = field(default_factory=list)

    def sizes(self) -> dict[str, int]:
        """How much of each phase there is: a part changes only when it grows."""
        counted = {
            "rank": int(self.rank_search is not None),
            "fit": int(self.fits is not None),
            "select": len(self.steps),
            "evaluate": len(self.trials),
        }
        return {phase: n for phase, n in counted.items() if n}

    def to_parts(self) -> dict[str, Arrays]:
        """What there is, by phase."""
        parts: dict[str, Arrays] = {}
        if self.rank_search is not None:
            scores = [astuple(score) for score in self.rank_search]
            parts["rank"] = {"scores": np.array(scores, dtype=np.float64).reshape(-1, 3)}
        if self.fits is not None:
            parts["fit"] = _fit_arrays(self.fits)
        if self.steps:
            parts["select"] = {**_step_arrays(self.steps), **_refit_arrays(self.refit)}
        if self.trials:
            parts["evaluate"] = _trial_arrays(self.trials)
        return parts

    @classmethod
    def from_parts(cls, parts: Mapping[str, Mapping[str, NDArray[Any]]]) -> Checkpoint:
        """The checkpoint that `to_parts` came from."""
        checkpoint = cls()
        if "rank" in parts:
            checkpoint.rank_search = tuple(
                RankScore(rank=int(rank), error=float(error), error_se=float(se))
                for rank, error, se in parts["rank"]["scores"]
            )
        if "fit" in parts:
            checkpoint.fits = _fits(parts["fit"])
        if "select" in parts:
            checkpoint.steps = _steps(parts["select"])
            checkpoint.refit = _refit(parts["select"])
        if "evaluate" in parts:
            checkpoint.trials = _trials(parts["evaluate"])
        return checkpoint


def _fit_arrays(fits: Sequence[CpdFit]) -> Arrays:
    arrays: Arrays = {}
    for i, fit in enumerate(fits):
        arrays[f"{i}/weights"] = fit.weights
        arrays[f"{i}/factors"] = np.concatenate(fit.factors)
        arrays[f"{i}/n_levels"] = np.array([len(factor) for factor in fit.factors])
        arrays[f"{i}/loglik"], arrays[f"{i}/objective"] = fit.loglik, fit.objective
        arrays[f"{i}/ended"] = np.array([fit.n_iter, fit.converged], dtype=np.int64)
    return arrays


def _fits(arrays: Mapping[str, NDArray[Any]]) -> list[CpdFit]:
    n_fits = sum(name.endswith("/ended") for name in arrays)
    return [_fit({name: arrays[f"{i}/{name}"] for name in FIT_ARRAYS}) for i in range(n_fits)]


FIT_ARRAYS = ("weights", "factors", "n_levels", "loglik", "objective", "ended")


def _fit(arrays: Arrays) -> CpdFit:
    cuts = np.cumsum(arrays["n_levels"])[:-1]
    n_iter, converged = arrays["ended"]
    return CpdFit(
        weights=arrays["weights"],
        factors=[np.ascontiguousarray(f) for f in np.split(arrays["factors"], cuts)],
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


def _steps(arrays: Mapping[str, NDArray[Any]]) -> list[Step]:
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


REFIT = "refit/"


def _refit_arrays(refit: Refit | None) -> Arrays:
    if refit is None:
        return {}
    return {
        f"{REFIT}weights": refit.parameters.weights,
        f"{REFIT}probs": refit.parameters.probs,
        f"{REFIT}n_evaluations": np.array(refit.n_evaluations),
    }


def _refit(arrays: Mapping[str, NDArray[Any]]) -> Refit | None:
    if f"{REFIT}probs" not in arrays:
        return None
    parameters = Parameters(arrays[f"{REFIT}weights"], arrays[f"{REFIT}probs"])
    return Refit(parameters, int(arrays[f"{REFIT}n_evaluations"]))


def _trial_arrays(trials: Sequence[Trial]) -> Arrays:
    arrays: Arrays = {}
    for i, trial in enumerate(trials):
        arrays[f"{i}/notes"] = np.array(trial.notes, dtype=np.str_)
        for classifier, curve in trial.curves.items():
            arrays[f"{i}/curves/{classifier}"] = np.array(curve, dtype=np.float64)
    return arrays


def _trials(arrays: Mapping[str, NDArray[Any]]) -> list[Trial]:
    n_trials = sum(name.endswith("/notes") for name in arrays)
    return [_trial(arrays, i) for i in range(n_trials)]


def _trial(arrays: Mapping[str, NDArray[Any]], number: int) -> Trial:
    """Nobody timed it: times are of comparisons, whose trials are units of work."""
    start = f"{number}/curves/"
    curves = {n.removeprefix(start): arrays[n].tolist() for n in arrays if n.startswith(start)}
    notes = arrays[f"{number}/notes"].tolist()
    return Trial.from_json({"curves": curves, "seconds": None, "notes": notes})
