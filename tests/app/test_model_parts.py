"""An answer takes of a model what it needs."""

from __future__ import annotations

import numpy as np
import pytest

from app.errors import NotAcceptable
from app.outcomes import model_parts
from app.outcomes.model_parts import Arrays, read_parts
from app.outcomes.packed import Packed
from app.report.parts import charts_of, variables_drawn
from tests.report.documents import selection
from worker.checkpoints import pack

N_LEVELS = np.array([3, 1, 4, 2, 5])
NAMES = ["a", "b", "c", "d", "y"]
RANK = 6
DOCUMENT = {"target": "y", "models": [{"variables": NAMES, "rank": RANK}] * 2}


def model(seed: int) -> Arrays:
    rng = np.random.default_rng(seed)
    factors = rng.random((N_LEVELS.sum(), RANK))
    return {
        f"{seed}/weights": rng.random(RANK),
        f"{seed}/factors": factors,
        f"{seed}/n_levels": N_LEVELS,
    }


def packed(arrays: Arrays) -> Packed:
    content = pack(arrays)
    return Packed(len(content), lambda start, n: content[start : start + n])


@pytest.mark.parametrize(
    ("wanted", "kept"), [(["d", "b"], [1, 3, 4]), ([], [4]), (None, [0, 1, 2, 3, 4])]
)
def test_the_wanted_variables_and_the_label(wanted: list[str] | None, kept: list[int]) -> None:
    arrays = {**model(0), **model(1)}
    document, part = read_parts(packed(arrays), DOCUMENT, wanted)
    for i in (0, 1):
        assert document["models"][i]["variables"] == [NAMES[v] for v in kept]
        split = np.split(arrays[f"{i}/factors"], np.cumsum(N_LEVELS)[:-1])
        assert np.array_equal(part[f"{i}/factors"], np.concatenate([split[v] for v in kept]))
        assert np.array_equal(part[f"{i}/weights"], arrays[f"{i}/weights"])
        assert part[f"{i}/n_levels"].tolist() == N_LEVELS[kept].tolist()


def test_more_than_an_answer_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_parts, "MOST_BYTES", 2 * 8 * RANK * 7)
    arrays = {**model(0), **model(1)}
    read_parts(packed(arrays), DOCUMENT, ["d"])
    with pytest.raises(NotAcceptable, match="name fewer `features`") as refused:
        read_parts(packed(arrays), DOCUMENT, ["a"])
    assert refused.value.code == "factors_too_large"


def test_pictures_can_be_drawn_from_the_part_that_they_need() -> None:
    document, arrays = selection()
    shown, part = read_parts(packed(arrays), document, variables_drawn(document))
    assert [c.name for c in charts_of(shown, part)] == [c.name for c in charts_of(document, arrays)]
