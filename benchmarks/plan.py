"""How large the engine's benchmark is: complete, or small enough for a smoke test."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """A table of codes."""

    n_rows: int
    n_features: int
    n_levels: int = 5

    def __str__(self) -> str:
        return f"{self.n_rows} x {self.n_features}, {self.n_levels} levels"


@dataclass(frozen=True)
class Plan:
    """Sizes and repetitions. The first of `sizes` has the most cells."""

    sizes: tuple[Size, ...] = (
        Size(70000, 784), Size(70000, 784, 2), Size(13910, 128), Size(1593, 256, 2),
    )  # fmt: skip
    peer_size: Size = Size(13910, 128)
    whole_size: Size = Size(5000, 40)
    default_sizes: tuple[Size, ...] = (Size(5000, 40), Size(13910, 128))
    growth_rows: Size = Size(40_000, 64)
    growth_features: Size = Size(8000, 128)
    growth_ranks: tuple[int, ...] = (40, 80, 160, 320)
    doublings: int = 3
    growth_iterations: int = 20
    rank: int = 30
    n_select: int = 50
    n_starts: int = 4
    max_iter: int = 300
    repeats: int = 12
    n_threads: int = 2


QUICK = Plan(
    sizes=(Size(2000, 40), Size(500, 60, 2)),
    peer_size=Size(400, 12),
    whole_size=Size(400, 10),
    default_sizes=(Size(400, 10),),
    growth_rows=Size(400, 8),
    growth_features=Size(400, 8),
    growth_ranks=(10, 20),
    doublings=1,
    growth_iterations=3,
    rank=8,
    n_select=8,
    n_starts=2,
    max_iter=20,
    repeats=2,
)
