"""What a person does with a result: frames, pictures, a bar while it is made."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest

from pith_client import Job, Result
from pith_client.progress import Bar, showing
from pith_client.tables import name_of

mpl.use("agg")

FEATURES = [
    {"rank": 1, "name": "a", "gain": 0.5, "mi_label": 0.5, "mi_label_se": 0.0, "runner_up": "c"},
    {"rank": 2, "name": "b", "gain": 0.2, "mi_label": 0.7, "mi_label_se": 0.1, "runner_up": None},
]
HELD_OUT = {
    "entropy": 1.0,
    "information": [0.0, 0.4],
    "standard_error": [0.0, 0.05],
    "all_features": 0.3,
    "all_features_se": 0.1,
    "n_folds": 5,
    "n_rows": 100,
}
CURVE: dict[str, Any] = {
    "classifier": "nearest_neighbour",
    "measure": "accuracy",
    "mean": [0.6, 0.8],
    "se": [0.02, 0.01],
    "all_features": 0.7,
}


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


def test_a_frame_says_what_held_out_rows_say() -> None:
    table = result_of(held_out=HELD_OUT).to_frame("polars")
    assert table["held_out"].to_list() == [0.4, None]
    assert table["held_out_se"].to_list() == [0.05, None]
    assert "name" in result_of(selected=[]).to_frame().columns


def test_held_out_information_is_drawn_with_error_bars() -> None:
    result = result_of(held_out=HELD_OUT)
    assert result.held_out is not None and result.held_out.share == [0.0, 0.4]
    ax = result.plot()
    trace, everything, all_features, suggested = ax.get_lines()
    assert list(trace.get_ydata()) == [0.0, 0.4]
    assert list(everything.get_ydata()) == [1.0, 1.0]
    assert list(all_features.get_ydata()) == [0.3, 0.3]
    assert list(suggested.get_xdata()) == [1, 1]
    ends = ax.collections[0].get_segments()[1]
    assert ends[:, 1] == pytest.approx([0.4 - 2 * 0.05, 0.4 + 2 * 0.05])


def test_where_nothing_tells_the_result_says_so() -> None:
    result = result_of(selected=[], suggested_k=0, held_out=HELD_OUT)
    assert repr(result) == "<no column here tells anything about 'y'>"
    assert result.plot().get_title() == "No column here tells anything about y"
    assert result.transform(pd.DataFrame({"a": [1, 2], "y": [0, 1]})).shape == (2, 0)
    assert result.transform(np.zeros((3, 2)), names=["a", "b"]).shape == (3, 0)
    assert repr(result_of(selected=FEATURES[:1])) == "<1 feature for 'y': a>"


def test_warnings_are_sentences_with_columns() -> None:
    told = {"code": "copy", "columns": ["b"], "message": "b is a copy of a."}
    (warning,) = result_of(warnings=[told]).warnings
    assert (warning.code, warning.columns) == ("copy", ["b"])
    assert result_of().warnings == []


def test_the_models_own_trace_is_drawn_with_its_errors() -> None:
    ax = result_of().plot_model()
    label, latent, suggested = ax.get_lines()
    assert list(label.get_ydata()) == [0.5, 0.7]
    assert list(latent.get_ydata()) == [0.9, 0.9]
    assert list(suggested.get_xdata()) == [1, 1]
    band = ax.collections[0].get_paths()[0].get_extents()
    assert (band.ymin, band.ymax) == pytest.approx((0.5, 0.7 + 2 * 0.1))
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["a", "b"]
    assert ax.get_title() == "Under the fitted model, on the rows it was fitted to"


def test_methods_without_a_model_are_drawn_by_their_scores() -> None:
    scored = [{"rank": 1, "name": "a", "gain": 0.4, "mi_label": None}]
    ax = result_of(selected=scored).plot()
    assert [bar.get_height() for bar in ax.patches] == [0.4]


def lines_of(ax: Any) -> dict[str, float]:
    """The last value of every line that has a name."""
    named = [line for line in ax.get_lines() if not line.get_label().startswith("_")]
    return {line.get_label(): line.get_ydata()[-1] for line in named}


def test_accuracy_curves_are_drawn_for_every_method() -> None:
    other = {**CURVE, "measure": "auc", "mean": [0.8, 0.9], "se": [None, None]}
    measured = {"curves": [CURVE, other], "baseline": {"accuracy": 0.4, "auc": 0.5}}
    evaluated = result_of(evaluation=measured)
    assert evaluated.evaluation == measured
    drawn = lines_of(evaluated.plot_accuracy())
    assert drawn == {"nearest neighbour": CURVE["mean"][-1], "no features": 0.4}
    ax = evaluated.plot_accuracy(measure="auc")
    assert lines_of(ax) == {"nearest neighbour": 0.9, "no features": 0.5}
    assert ax.get_lines()[1].get_ydata()[0] == CURVE["all_features"]
    methods = [{"label": "gsm_cpd", "curves": [CURVE]}, {"label": "mrmr", "curves": [CURVE]}]
    methods.append({"label": "failed", "curves": []})
    compared = result_of(comparison={"methods": methods, "baseline": {"accuracy": 0.4}})
    assert list(lines_of(compared.plot_accuracy())) == ["gsm_cpd", "mrmr", "no features"]
    with pytest.raises(ValueError, match="submit it with evaluate or compare"):
        result_of().plot_accuracy()


def job_at(progress: float, **more: float) -> Job:
    running = {"id": "job_1", "status": "running", "phase": "fit", "progress": progress}
    return Job.read({**running, **more})


def test_a_bar_is_drawn_over_itself() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="")
    bar = Bar(stream)
    bar(job_at(0.5))
    bar(job_at(0.5, seconds_left=12.3))
    bar(job_at(0.5, seconds_left=150))
    bar.clear()
    stream.seek(0)
    drawn = stream.read()
    assert "Fitting the model" in drawn and " 50%  job_1" in drawn
    assert " 50%  about 12 s left  job_1" in drawn and "about 2 min left" in drawn
    assert drawn.count("━") == drawn.count("╌") == 3 * 15
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


def test_a_notebook_shows_a_table_in_which_names_are_text() -> None:
    latent = {**FEATURES[0], "name": "<b>a</b>"}
    shown = result_of(selected=[latent], held_out=HELD_OUT)._repr_html_()
    assert "<td>1</td><td>&lt;b&gt;a&lt;/b&gt;</td><td>0.400 ± 0.100</td>" in shown
    assert "<td>all features</td><td>0.300 ± 0.200</td>" in shown
    beyond = [{**FEATURES[0], "supported": False}]
    shown = result_of(selected=beyond, suggested_k=0, held_out=HELD_OUT)._repr_html_()
    assert "0.400 ± 0.100, which do not support it</td>" in shown
    assert "No column here tells anything" in result_of(selected=[])._repr_html_()
    assert "held-out" not in result_of()._repr_html_()


def test_polars_in_is_polars_out() -> None:
    result = result_of()
    result.input_library = "polars"
    assert isinstance(result.to_frame(), pl.DataFrame)
    assert isinstance(result.to_frame("pandas"), pd.DataFrame)


@pytest.mark.parametrize("target", ["y", pd.Series([1], name="y"), pl.Series("y", [1])])
def test_a_target_is_a_name_or_a_column_with_one(target: Any) -> None:
    assert name_of(target) == "y"


@pytest.mark.parametrize("target", [pd.Series([1]), np.array([1, 2]), None])
def test_a_target_without_a_name_is_refused_with_a_reason(target: Any) -> None:
    with pytest.raises(TypeError, match="the name of a column of the table"):
        name_of(target)


def test_the_axis_of_k_has_whole_numbers() -> None:
    ax = result_of(held_out=HELD_OUT).plot()
    assert all(float(place).is_integer() for place in ax.get_xticks())
