"""A small deterministic stand-in for `core.pipeline` that can be told what to do.

The target's name says how the run behaves: `slow` takes its time, `judged` does so when it has
chosen, `crash` dies of a bus error, `fault` raises what nobody expects, `huge` runs out of memory,
`refused` raises an error of core. Any other target chooses the other columns in their order. Of
the methods of a comparison `rjmi` takes its time and `globalfs` is refused.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core import methods
from core.blocks.scratch import Scratch
from core.callbacks import Enough
from core.config import Method, SelectionConfig
from core.data.table import Table
from core.errors import InvalidData
from core.methods import Choice
from core.results.measures import Missing
from core.results.selection import (
    EncodedColumn,
    ModelFit,
    Phase,
    Progress,
    Selected,
    SelectionResult,
    describe_config,
)
from core.rivals.outcome import RivalOutcome, RivalStep

Report = Callable[[Progress], None]
# Longer than any test waits, on any machine.
SLOW_SECONDS = 600.0


def select_features(
    columns: Mapping[str, NDArray[Any]],
    target: str,
    config: SelectionConfig,
    on_progress: Report | None = None,
    checkpoint: object = None,
    *,
    engine: object = None,
    origin: object = None,
    beside: object = (),
) -> SelectionResult:
    report = on_progress or (lambda _: None)
    report(Progress(phase="encode", fraction=0.1))
    misbehave(target)
    if target == "slow":
        take_time(report, "fit", SLOW_SECONDS)
    report(Progress(phase="fit", fraction=0.5, loglik=-1.5))
    features = [name for name in columns if name != target]
    k = len(features) if config.k == "auto" else config.k
    chosen = [choose(i, name, report) for i, name in enumerate(features[:k], 1)]
    result = result_of(columns, target, config, tuple(chosen))
    return judge_for_long(result, report) if target == "judged" else result


def judge_for_long(result: SelectionResult, report: Report) -> SelectionResult:
    with suppress(Enough):
        take_time(report, "evaluate", SLOW_SECONDS)
    return replace(result, missing=(Missing(part="evaluation", n_done=0, n_asked=5),))


def misbehave(target: str) -> None:
    if target == "crash":
        tear(Path(tempfile.mkdtemp()))
    if target == "fault":
        raise RuntimeError("secret internals")
    if target == "huge":
        raise MemoryError
    if target == "refused":
        raise InvalidData("column 'refused' is constant", "refused")


def tear(directory: Path) -> None:
    """Write to a mapped file that a disk lost, which no handler of Python's ever hears of."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    room = Scratch(directory).room(1 << 10, 1 << 10)
    directory.rmdir()
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the one that lists them
            if link.readlink().is_relative_to(directory):
                os.truncate(link, 0)
    room[:] = 1


def take_time(report: Report, phase: Phase, seconds: float) -> None:
    started = time.monotonic()
    while (spent := time.monotonic() - started) < seconds:
        report(Progress(phase=phase, fraction=0.1 + 0.4 * spent / seconds, loglik=-3 + spent))
        time.sleep(0.05)


def choose(rank: int, name: str, report: Report) -> Selected:
    selected = Selected(rank=rank, name=name, gain=1 / rank, decided_by="label")
    report(Progress(phase="select", fraction=0.5 + rank / 100, selected=selected))
    return selected


def result_of(
    columns: Mapping[str, NDArray[Any]],
    target: str,
    config: SelectionConfig,
    chosen: tuple[Selected, ...],
) -> SelectionResult:
    levels = ("low", "high")
    factor = np.array([[0.25, 0.75], [0.75, 0.25]])
    model = ModelFit(
        variables=(*(s.name for s in chosen), target),
        weights=np.array([0.5, 0.5]),
        factors=tuple(factor for _ in range(len(chosen) + 1)),
        loglik=(-2.0, -1.5),
        n_iter=2,
        converged=True,
        rank=2,
        family="joint",
    )
    return SelectionResult(
        target=target,
        selected=chosen,
        left_out=(),
        dropped=(),
        suggested_k=len(chosen),
        n_rows=len(columns[target]),
        n_distinct_rows=len(columns[target]),
        encoding=tuple(EncodedColumn(name=n, kind="discrete", levels=levels) for n in columns),
        config=describe_config(config),
        models=(model,) if config.method.name == "gsm_cpd" else (),
    )


def choose_in_part(
    table: Table, k: int | None, method: Method, on_progress: Report, **_: object
) -> Choice:
    """For the units of a job: the first k columns, at a pace or with a fault that `method` sets."""
    if method.name == "globalfs":
        raise InvalidData("GlobalFS is refused", "method")
    for step in range(10 if method.name == "rjmi" else 1):
        on_progress(Progress(phase="select", fraction=step / 10))
        time.sleep(0.05)
    outcome = RivalOutcome(steps=tuple(RivalStep(f, 0.0) for f in table.searched[:k]))
    return Choice(outcome, table.learn("uniform"), None)


def warm_default() -> None:
    """There are no kernels to compile."""


def stand_in(name: str, function: Callable[..., object]) -> None:
    module = ModuleType(name)
    setattr(module, function.__name__, function)
    sys.modules[name] = module


def install() -> None:
    stand_in("core.pipeline", select_features)
    stand_in("core.warm", warm_default)
    methods.choose = choose_in_part  # type: ignore[assignment]
