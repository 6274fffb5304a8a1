"""What a selection in this process will take, in a sentence before it begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.jobs.memory import PROCESS_BYTES, shape_of
from core.config import Bootstrap, Compare, SelectionConfig
from core.cost.engines import EngineName
from core.cost.forecast import phase_seconds
from core.cost.work import Speed
from core.memory import EngineKind, estimate_memory

MINUTE = 60


def foretell(
    profile: tuple[int, Sequence[Mapping[str, Any]]],
    target: str,
    config: SelectionConfig,
    compare: Compare | None,
    bootstrap: Bootstrap | None,
    engine: EngineName,
) -> str:
    """Seconds and memory of a table with this profile, at the speed of a usual core."""
    shape = shape_of(config, target, *profile, compare.methods if compare else ())
    speed = Speed(n_threads=config.n_threads)
    seconds = sum(phase_seconds(shape, config, speed, compare, bootstrap, engine=engine).values())
    kind: EngineKind = "memory" if engine == "memory" else "file"
    needed = estimate_memory(shape, config, kind, compare, resamples=bootstrap is not None)
    memory = PROCESS_BYTES + needed
    return f"This takes {_in_words(seconds)} and {memory / 2**30:.1f} GiB, or half or twice that."


def _in_words(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    if seconds < 2 * MINUTE:
        return f"about {seconds:.0f} s"
    return f"about {seconds / MINUTE:.0f} min"
