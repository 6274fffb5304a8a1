"""What two features share, against the full tensor."""

from __future__ import annotations

import pytest
from hypothesis import given

from core.gsm.overlap import overlaps
from core.workers import Workers
from tests.core import reference
from tests.core.gsm.models import models
from tests.core.reference import Model
from tests.core.worlds import as_fit, examples


@examples(10)
@given(models)
def test_overlap_is_the_information_two_features_share(models: list[Model]) -> None:
    with Workers(2) as workers:
        shared = overlaps([as_fit(model) for model in models], [1, 4], workers)
    for n in (0, 3):
        for place, chosen in enumerate((1, 4)):
            before = reference.gains(models, [], "latent")[n]
            after = reference.gains(models, [chosen], "latent")[n]
            assert shared[n, place] == pytest.approx(before - after, abs=1e-9)
