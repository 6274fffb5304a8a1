"""How far a selection is, told as one rising fraction."""

from __future__ import annotations

from core.callbacks import OnFraction
from core.rivals.outcome import OnStep, RivalStep


class StepProgress:
    """Turns what a single step has done into a fraction of the whole; callbacks may raise."""

    def __init__(self, n_steps: int, on_step: OnStep, on_progress: OnFraction) -> None:
        self._n_steps, self._n_done, self._told = n_steps, 0, 0.0
        self._on_step, self._on_progress = on_step, on_progress

    def inside(self, fraction: float) -> None:
        """Tell how much of the current step is done."""
        self._told = max(self._told, min(1.0, (self._n_done + fraction) / self._n_steps))
        self._on_progress(self._told)

    def chose(self, step: RivalStep) -> None:
        """Tell that a step is complete."""
        self._n_done += 1
        self._on_step(step)
        self.inside(0.0)
