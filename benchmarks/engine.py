"""Speed and memory of the engine, against BLAS, StepMix, itself and the arithmetic limit.

Both sides of every comparison run on the same data with the same number of threads, taking turns
where they are short enough to repeat; the table and benchmarks/out/engine.json hold ratios and
what they were made from.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from benchmarks.defaults import measure_defaults
from benchmarks.figures import NOTE, Figure, show, write
from benchmarks.fresh import measure_fresh
from benchmarks.greedy import measure_greedy
from benchmarks.iteration import measure_iteration
from benchmarks.plan import QUICK, Plan
from benchmarks.whole import measure_whole

OUT = Path("benchmarks/out/engine.json")


def _measure_peer(plan: Plan) -> Iterator[Figure]:
    # StepMix comes with the benchmarks' requirements only; the other parts do without.
    from benchmarks.peer import measure_peer  # noqa: PLC0415

    return measure_peer(plan)


PARTS: dict[str, Callable[[Plan], Iterator[Figure]]] = {
    "iteration": measure_iteration,
    "peer": _measure_peer,
    "greedy": measure_greedy,
    "fresh": measure_fresh,
    "whole": measure_whole,
    "defaults": measure_defaults,
}


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    plan = QUICK if options.quick else Plan()
    plan = replace(plan, n_threads=options.threads)
    warnings.simplefilter("ignore")
    console = Console(width=None if Console().is_terminal else 160)
    figures: list[Figure] = []
    for part in options.only or PARTS:
        found = list(PARTS[part](plan))
        # Targets are set for the sizes of the complete run.
        found = [replace(figure, target=None) for figure in found] if options.quick else found
        show(found, console)
        figures += found
        write(figures, options.out, {"threads": plan.n_threads, "quick": options.quick})
    console.print(NOTE)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, in under a minute")
    parser.add_argument("--only", nargs="+", choices=PARTS, help="these parts instead of all")
    parser.add_argument("--threads", type=int, default=2, help="of both sides (default 2)")
    parser.add_argument("--out", type=Path, default=OUT, help="where the JSON goes")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
