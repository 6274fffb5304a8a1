"""What a person does with a result: frames, pictures, a bar while it is made."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
import pandas as pd
import polars as pl
import pytest

from pith_client import Job, Result
from pith_client.progress import Bar, showing

mpl.use("agg")

FEATURES = [
    {"rank": 1, "name": "a", "gain": 0.5, "mi_label": 0.5, "mi_label_se": 0.0, "runner_up": "c"},
    {"rank": 2, "name": "b", "gain": 0.2, "mi_label": 0.7, "mi_label_se": 0.1, "runner_up": None},
]
CURVE = {"classifier": "nearest_neighbour", "mean": [0.6, 0.8], "se": [0.02, 0.01]}


def result_of(**parts: Any) -> Result:
    latent = [{**f, "mi_latent": 0.9, "mi_latent_se": None} for f in FEATURES]
    document = {"target": "y", "selected": latent, "suggested_k": 1, **parts}
    return Result("job_1", document)


@pytest.mark.parametrize(("library", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_the_features_as_a_frame(library: Any, frame: Any) -> None:
    table = result_of().to_frame(library)
    assert isinstance(table, frame)
    assert list(table["name"]) == ["a", "b"]
    assert list(table["mi_label"]) == [0.5, 0.7]
    assert isinstance(result_of().to_frame(), pd.DataFrame)
    assert len(result_of(selected=[]).to_frame(library)) == 0


def test_the_trace_is_drawn_with_its_errors() -> None:
    ax = result_of().plot()
    label, latent, suggested = ax.get_lines()
    assert list(label.get_ydata()) == [0.5, 0.7]
    assert list(latent.get_ydata()) == [0.9, 0.9]
    assert list(suggested.get_xdata()) == [1, 1]
    band = ax.collections[0].get_paths()[0].get_extents()
    assert (band.ymin, band.ymax) == pytest.approx((0.5, 0.7 + 2 * 0.1))
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["a", "b"]


def test_methods_without_a_model_are_drawn_by_their_scores() -> None:
    scored = [{"rank": 1, "name": "a", "gain": 0.4, "mi_label": None}]
    ax = result_of(selected=scored).plot()
    assert [bar.get_height() for bar in ax.patches] == [0.4]


def test_accuracy_curves_are_drawn_for_every_method() -> None:
    evaluated = result_of(evaluation={"curves": [CURVE]})
    assert [line.get_label() for line in evaluated.plot_accuracy().get_lines()] == [
        "nearest neighbour"
    ]
    methods = [{"label": "gsm_cpd", "curves": [CURVE]}, {"label": "mrmr", "curves": [CURVE]}]
    methods.append({"label": "failed", "curves": []})
    compared = result_of(comparison={"methods": methods})
    assert compared.comparison == {"methods": methods}
    lines = compared.plot_accuracy().get_lines()
    assert [line.get_label() for line in lines] == ["gsm_cpd", "mrmr"]
    with pytest.raises(ValueError, match="submit it with evaluate or compare"):
        result_of().plot_accuracy()


def job_at(progress: float) -> Job:
    return Job.read({"id": "job_1", "status": "running", "phase": "fit", "progress": progress})


def test_a_bar_is_drawn_over_itself() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="")
    bar = Bar(stream)
    bar(job_at(0.5))
    bar.clear()
    stream.seek(0)
    drawn = stream.read()
    assert "Fitting the model" in drawn and " 50%  job_1" in drawn
    assert drawn.count("━") == drawn.count("╌") == 15
    assert drawn.endswith("\r\x1b[K") and "\n" not in drawn


def test_a_terminal_without_such_letters_gets_a_bar_all_the_same() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), "ascii")
    Bar(stream)(job_at(0.5))
    stream.seek(0)
    assert "?" * 30 in stream.read()


def test_nothing_is_drawn_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[float] = []
    for progress in (None, False, lambda job: seen.append(job.progress)):
        with showing(progress) as show:
            show(job_at(0.5))
    assert capsys.readouterr().err == ""
    assert seen == [0.5]
    with showing(True) as show:
        show(job_at(0.5))
    assert "job_1" in capsys.readouterr().err
