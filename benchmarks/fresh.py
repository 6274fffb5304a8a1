"""What only a fresh process shows: memory of the fit, the first call, what an import loads."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.figures import Figure
from benchmarks.plan import Plan
from benchmarks.synthetic import latent_class_problem

_FIRST_CALL = """
import json, time
def clocks():
    return time.perf_counter(), time.process_time()
begin = clocks()
import numpy as np
from core.config import SelectionConfig
from core.pipeline import select_features
found = {}
def note(name, start):
    wall, cpu = clocks()
    found[f"{name}_s"], found[f"{name}_cpu_s"] = wall - start[0], cpu - start[1]
note("import", begin)
rng = np.random.default_rng(0)
columns = {f"x{n}": rng.integers(0, 4, 300) for n in range(8)}
columns["label"] = columns["x0"] + columns["x1"] > 3
for name in ("first", "second"):
    start = clocks()
    select_features(columns, "label", SelectionConfig(3))
    note(name, start)
print(json.dumps(found))
"""

_IMPORT = """
import json, sys
import core.config
print(json.dumps({"numba": "numba" in sys.modules, "modules": len(sys.modules)}))
"""

_MEMORY = """
import json, sys
import numpy as np
from core.fit_config import CpdConfig
from core.cpd.em import fit_cpd
def megabytes(field):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(l.split()[1]) / 1024 for l in lines if l.startswith(field))
codes, levels = np.load(sys.argv[1]), np.load(sys.argv[2])
config = CpdConfig(rank=int(sys.argv[3]), n_init=int(sys.argv[4]), max_iter=25)
fit_cpd(codes[:200].copy(), levels, config)
before = megabytes("VmRSS")
fit_cpd(codes, levels, config)
print(json.dumps({"before_mb": before, "peak_mb": megabytes("VmHWM")}))
"""


def measure_fresh(plan: Plan) -> Iterator[Figure]:
    """Memory with one start and with the default of four; then the first call and the import."""
    yield from _memory(plan)
    _run(_FIRST_CALL)
    calls = [_run(_FIRST_CALL) for _ in range(min(plan.repeats, 5))]
    first = min(calls, key=lambda call: call["import_cpu_s"] + call["first_cpu_s"])
    yield Figure(
        part="fresh",
        what="imports and first call, kernels cached",
        size="300 x 8",
        value=first["import_cpu_s"] + first["first_cpu_s"],
        unit="s of processor time",
        target=2,
        sense="at most",
        details=first,
    )
    yield Figure(
        part="fresh",
        what="first call, kernels cached",
        size="300 x 8",
        value=first["first_cpu_s"],
        unit="s of processor time",
        target=2,
        sense="at most",
        details={"again_cpu_s": first["second_cpu_s"]},
    )
    loaded = _run(_IMPORT)
    yield Figure(
        part="fresh",
        what="import core.config loads numba",
        size="",
        value=loaded["numba"],
        unit="(1 if so)",
        target=0,
        sense="at most",
        details=loaded,
    )


def _memory(plan: Plan) -> Iterator[Figure]:
    size = plan.sizes[0]
    problem = latent_class_problem(size.n_rows, size.n_features, size.n_levels)
    with tempfile.TemporaryDirectory() as folder:
        codes, levels = Path(folder) / "codes.npy", Path(folder) / "levels.npy"
        np.save(codes, problem.codes)
        np.save(levels, problem.n_levels)
        for n_init in (1, 4):
            found = _run(_MEMORY, str(codes), str(levels), str(plan.rank), str(n_init))
            yield Figure(
                part="fresh",
                what=f"memory of the fit above codes and interpreter, n_init={n_init}",
                size=str(size),
                value=found["peak_mb"] - found["before_mb"],
                unit="MB",
                target=200,
                sense="at most",
                details={**found, "codes_mb": problem.codes.nbytes / 2**20},
            )


def _run(script: str, *arguments: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return {name: float(value) for name, value in found.items()}
