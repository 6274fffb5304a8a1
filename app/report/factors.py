"""The fitted model as a heat map: which levels make each latent state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.report.chart import Chart
from app.report.grids import Block, heat_map
from app.report.levels import Arrays, plain_level

MAX_FEATURES = 8
MAX_LEVELS = 12
MAX_STATES = 40


def factor_chart(document: Mapping[str, Any], arrays: Arrays) -> Chart | None:
    """P(level | state) of the label and of the first chosen features, under the first model."""
    if "0/weights" not in arrays:
        return None
    factors = dict(_factors(document, arrays))
    states = _order(arrays["0/weights"], factors[document["target"]])
    names = [document["target"], *(f["name"] for f in document["selected"][:MAX_FEATURES])]
    levels = {column["name"]: column["levels"] for column in document["encoding"]}
    blocks = [_block(name, factors[name][:, states], levels.get(name)) for name in names]
    columns = [f"state {i}" for i in range(1, len(states) + 1)]
    title = "What each latent state is made of"
    return Chart(
        name="factors",
        title=title,
        caption=_caption(len(states), len(arrays["0/weights"])),
        draw=partial(heat_map, title, columns, blocks, "latent states, by class and weight"),
        columns=["variable", "level", *columns],
        rows=[
            [block.name, level, *(round(share, 6) for share in shares)]
            for block in blocks
            for level, shares in zip(block.levels, block.shares, strict=True)
        ],
    )


def _factors(
    document: Mapping[str, Any], arrays: Arrays
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    cuts = np.cumsum(arrays["0/n_levels"])[:-1]
    factors = np.split(arrays["0/factors"], cuts)
    yield from zip(document["models"][0]["variables"], factors, strict=True)


def _order(weights: NDArray[np.float64], label: NDArray[np.float64]) -> NDArray[np.int64]:
    """The heaviest states, those of one class beside each other."""
    heaviest = np.argsort(-weights, kind="stable")[:MAX_STATES]
    by_class = label[:, heaviest].argmax(axis=0)
    return heaviest[np.lexsort((-weights[heaviest], by_class))]


def _block(name: str, factor: NDArray[np.float64], levels: Sequence[str] | None) -> Block:
    named = [plain_level(level) for level in levels or map(str, range(len(factor)))]
    shown = _telling_levels(factor)
    return Block(name=name, levels=[named[i] for i in shown], shares=factor[shown].tolist())


def _telling_levels(factor: NDArray[np.float64]) -> list[int]:
    """The levels by which the states differ most, in their own order."""
    spread = factor.max(axis=1) - factor.min(axis=1)
    most: list[int] = np.sort(np.argsort(-spread, kind="stable")[:MAX_LEVELS]).tolist()
    return most


def _caption(n_shown: int, n_states: int) -> str:
    which = "All" if n_shown == n_states else f"The heaviest {n_shown} of"
    return (
        f"{which} {n_states} states of the first model; the stronger, the likelier a level in that "
        f"state. The label and the first {MAX_FEATURES} chosen features, each with the "
        f"{MAX_LEVELS} levels at most in which states differ most; the whole model can be "
        "downloaded as factors."
    )
