"""A result on a terminal."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

from rich.console import Console

from app.cli.terminal import show
from core.results.selection import SelectionResult
from tests.report.documents import TARGET, selected


def shown(result: SelectionResult) -> list[str]:
    stream = StringIO()
    show(result, Console(file=stream, width=140))
    return [line.strip() for line in stream.getvalue().splitlines()]


def test_held_out_rows_come_first_and_the_models_figures_are_called_so() -> None:
    lines = shown(selected())
    assert lines[0].startswith("2 features tell 0.410 of the 0.690 nats there are to know about")
    held_out = lines.index("On rows held out, of 0.690 nats there are to know")
    model = lines.index("Under the fitted model, on the rows it was fitted to")
    sizes = [line.split() for line in lines[held_out:model] if line[:1].isdigit()]
    assert sizes[0] == ["0", "0.000", "0.001", "0", "%"]
    assert sizes[1][:2] == ["1", "◂"] and sizes[1][-1] == "█" * 12
    assert sizes[2][-4:] == ["do", "not", "support", "it"]
    assert sizes[3][:4] == ["3", "0.390", "0.022", "57"]


def test_warnings_are_shown() -> None:
    assert any(line.startswith("Warning: c is a copy of") for line in shown(selected()))


def test_where_nothing_tells_it_is_the_first_line() -> None:
    lines = shown(replace(selected(), selected=(), suggested_k=0))
    assert lines[0] == f"No column here tells anything about {TARGET}."
    assert not any("Under the fitted model" in line for line in lines)
