"""One greedy choice, and what it is made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from core.arrays import Floats, Ints
from core.callbacks import OnWait
from core.config import Objective
from core.gsm.chance import Chance
from core.gsm.copies import Copies
from core.gsm.counted import Counted
from core.gsm.objective import Information

OnStep = Callable[["Step"], None]

SAMPLING_ERRORS = 2.0

DecidedBy = Literal["label", "counted", "latent", "included"]


@dataclass(frozen=True)
class Step:
    """One choice.

    `latent` and `label` are the gains it was chosen by (the label's is 0 where only the latent one
    counts); `information` is what S tells afterwards.
    `bounds` (N,) caps the latent gain of every candidate before the choice, -1 outside.
    `n_evaluations` counts the gains evaluated up to here; `informed` once a label's gain was real.
    """

    feature: int
    decided_by: DecidedBy
    exact: bool
    latent: float
    latent_se: float
    label: float
    label_se: float
    runner_up: int | None
    margin: float | None
    bounds: Floats
    information: Information
    n_evaluations: int
    informed: bool


@dataclass(frozen=True)
class Task:
    """What to choose from and how.

    `chosen` was taken before; `informed` once a choice among it told about the label. Those in
    `focus` come before all others. What is `counted` decides where the model knows no more about
    the label, and caps gains if these are `is_capped`.
    """

    objective: Objective
    n_select: int
    candidates: Ints
    included: tuple[int, ...]
    chance: Chance
    copies: Copies | None = None
    counted: Counted | None = None
    is_capped: bool = False
    chosen: tuple[int, ...] = ()
    focus: tuple[int, ...] = ()
    lazy: bool = True
    informed: bool = False
    on_step: OnStep | None = None
    on_wait: OnWait | None = None
