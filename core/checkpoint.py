"""What a run has completed, as plain arrays: a run that is given it goes on from there.

Every part is a function of data, configuration and seed alone, so the result is the same byte for
byte, whether a run was interrupted or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.arrays import Values
from core.documents import read
from core.gsm.completed import Arrays, Completed
from core.measures import Trial


@dataclass
class Checkpoint:
    """Filled in by a run as it goes: what the method has done, then split by split."""

    selection: Completed = field(default_factory=Completed)
    trials: list[Trial] = field(default_factory=list)

    def sizes(self) -> dict[str, int]:
        """How much of each phase there is: a part changes only when it grows."""
        counted = {**self.selection.sizes(), "evaluate": len(self.trials)}
        return {phase: n for phase, n in counted.items() if n}

    def to_parts(self) -> dict[str, Arrays]:
        """What there is, by phase."""
        parts = self.selection.to_parts()
        if self.trials:
            parts["evaluate"] = _trial_arrays(self.trials)
        return parts

    @classmethod
    def from_parts(cls, parts: Mapping[str, Mapping[str, Values]]) -> Checkpoint:
        """The checkpoint that `to_parts` came from."""
        trials = _trials(parts["evaluate"]) if "evaluate" in parts else []
        return cls(Completed.from_parts(parts), trials)


def _trial_arrays(trials: Sequence[Trial]) -> Arrays:
    arrays: Arrays = {}
    for i, trial in enumerate(trials):
        arrays[f"{i}/notes"] = np.array(trial.notes, dtype=np.str_)
        for classifier, curve in trial.curves.items():
            arrays[f"{i}/curves/{classifier}"] = np.array(curve, dtype=np.float64)
    return arrays


def _trials(arrays: Mapping[str, Values]) -> list[Trial]:
    n_trials = sum(name.endswith("/notes") for name in arrays)
    return [_trial(arrays, i) for i in range(n_trials)]


def _trial(arrays: Mapping[str, Values], number: int) -> Trial:
    """Nobody timed it: times are of comparisons, whose trials are units of work."""
    start = f"{number}/curves/"
    curves = {n.removeprefix(start): arrays[n].tolist() for n in arrays if n.startswith(start)}
    notes = arrays[f"{number}/notes"].tolist()
    return read({"curves": curves, "seconds": None, "notes": notes}, Trial)
