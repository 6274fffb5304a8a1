"""`make load`: many callers for minutes; latencies, errors, and memory that must not grow."""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from benchmarks.callers import Tally, call_for
from benchmarks.stage import ROOT, stage, worker

MIB = 1 << 20
SAMPLE_SECONDS = 1.0
N_PARTS = 5


class Memory(threading.Thread):
    """Samples the resident size of processes with all their children."""

    def __init__(self, processes: Mapping[str, subprocess.Popen[bytes]]) -> None:
        super().__init__(daemon=True)
        self._roots = {name: psutil.Process(p.pid) for name, p in processes.items()}
        self._over = threading.Event()
        self.samples: dict[str, list[float]] = {name: [] for name in processes}

    def run(self) -> None:
        """Until stopped."""
        while not self._over.wait(SAMPLE_SECONDS):
            for name, root in self._roots.items():
                self.samples[name].append(_resident(root))

    def stop(self) -> None:
        """Take no more samples."""
        self._over.set()
        self.join()

    def parts(self, name: str) -> list[float]:
        """The median size in each fifth of the time, in MiB."""
        taken = self.samples[name]
        n_each = max(1, len(taken) // N_PARTS)
        return [statistics.median(taken[i * n_each : (i + 1) * n_each]) for i in range(N_PARTS)]


def _resident(root: psutil.Process) -> float:
    total = 0
    for process in [root, *root.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            total += process.memory_info().rss
    return total / MIB


def main() -> int:
    options = _options()
    with ExitStack() as stack:
        scene = stack.enter_context(stage())
        workers = {
            f"worker {n + 1}": stack.enter_context(worker(scene, n)) for n in range(options.workers)
        }
        url = f"http://127.0.0.1:{scene.api_port}"
        asyncio.run(call_for(url, options.warm_seconds, options.clients))
        memory = Memory({"API": scene.api, **workers})
        memory.start()
        tally = asyncio.run(call_for(url, options.seconds, options.clients))
        memory.stop()
    _show(tally, memory)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(_document(tally, memory), indent=2))
    return 1 if tally.errors else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="how long callers work")
    parser.add_argument("--warm-seconds", type=float, default=20, help="before anything counts")
    parser.add_argument("--clients", type=int, default=50, help="callers at the same time")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/out/load.json")
    return parser.parse_args()


def _show(tally: Tally, memory: Memory) -> None:
    calls = Table("call", "requests", "per second", "p50 ms", "p99 ms", title="Calls")
    for call, seconds in tally.seconds.items():
        median, high = tally.quantiles(call)
        rate = len(seconds) / tally.elapsed
        calls.add_row(call, str(len(seconds)), f"{rate:.1f}", f"{median:.1f}", f"{high:.1f}")
    sizes = Table("process", *(f"{i}/{N_PARTS}" for i in range(1, N_PARTS + 1)))
    sizes.title = "Resident MiB in each part of the time"
    for name in memory.samples:
        sizes.add_row(name, *(f"{size:.0f}" for size in memory.parts(name)))
    console = Console(width=100)
    console.print(calls, sizes)
    jobs = f"{tally.n_jobs} jobs, {tally.n_jobs / tally.elapsed:.1f} a second"
    console.print(f"{tally.n_requests} requests, {jobs}, errors: {tally.errors.total()}")
    for error, count in tally.errors.items():
        console.print(f"  {count} x {error}")


def _document(tally: Tally, memory: Memory) -> dict[str, Any]:
    calls = {
        call: dict(zip(("p50_ms", "p99_ms"), tally.quantiles(call), strict=True))
        | {"requests": len(seconds)}
        for call, seconds in tally.seconds.items()
    }
    return {
        "seconds": tally.elapsed,
        "requests": tally.n_requests,
        "jobs": tally.n_jobs,
        "errors": dict(tally.errors),
        "calls": calls,
        "resident_mib": {name: memory.parts(name) for name in memory.samples},
    }


if __name__ == "__main__":
    sys.exit(main())
