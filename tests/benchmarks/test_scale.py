"""The benchmark of scale runs, and its figures are of what they say."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.plan import Size
from benchmarks.sampling import measure_sampling
from benchmarks.scale import measure_job
from benchmarks.synthetic import latent_class_problem
from core.crossfit import folds


def test_a_job_is_held_against_an_iteration_over_its_table() -> None:
    figure = measure_job(Size(400, 21), n_threads=1)
    seconds = sum(figure.details[f"{p}_cpu_s"] for p in ("encode", "rank", "fit", "select"))
    assert figure.value == pytest.approx(seconds / figure.details["iteration_cpu_s"])
    assert figure.details["nanoseconds_a_cell"] == pytest.approx(1e9 * seconds / (400 * 21))


def test_choices_by_a_sample_and_by_all_rows_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = latent_class_problem(500, 21)
    columns = {f"x{n}": np.ascontiguousarray(codes) for n, codes in enumerate(problem.codes.T)}
    monkeypatch.setattr(folds, "CROSS_ROWS", 150)
    figure = measure_sampling("small", columns, problem.labels, 1)
    by_sample, by_all = (figure.details[f"accuracy{way}"] for way in ("", "_if_all_rows_decide"))
    assert figure.value == pytest.approx(by_all - by_sample)
    assert min(by_sample, by_all) > 0.4
    assert figure.details["chosen_alike"] >= 19
