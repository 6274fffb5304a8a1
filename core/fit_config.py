"""How one low-rank model is fitted. Imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.errors import require_choice, require_int, require_number

Family = Literal["joint", "per_class"]


@dataclass(frozen=True, kw_only=True)
class CpdConfig:
    """How one low-rank model is fitted.

    `tol` is the rise of the penalised mean log-likelihood per row and iteration below which the fit
    has converged. `smoothing` is the Dirichlet pseudo-count that every state adds to each of its
    distributions, spread over the levels like the variable's own marginal.
    """

    rank: int = 20
    family: Family = "joint"
    n_init: int = 4
    max_iter: int = 300
    tol: float = 1e-5
    smoothing: float = 0.1
    accelerate: bool = True
    n_threads: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        require_int(self.rank, "rank", 1)
        require_choice(self.family, "family", ("joint", "per_class"))
        require_int(self.n_init, "n_init", 1)
        require_int(self.max_iter, "max_iter", 1)
        require_number(self.tol, "tol", 0)
        require_number(self.smoothing, "smoothing", 0)
        require_int(self.n_threads, "n_threads", 0)
        require_int(self.seed, "seed", 0)
