"""What a run has completed, as plain arrays: a run that is given it goes on from there.

Every part is a function of data, configuration and seed alone, so the result is the same byte for
byte, whether a run was interrupted or not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from core.arrays import Values
from core.gsm.completed import Arrays, Completed
from core.results.documents import read
from core.results.measures import Trial


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
    return {"trials": np.array([json.dumps(asdict(trial)) for trial in trials], dtype=np.str_)}


def _trials(arrays: Mapping[str, Values]) -> list[Trial]:
    return [read(json.loads(document), Trial) for document in arrays["trials"].tolist()]
