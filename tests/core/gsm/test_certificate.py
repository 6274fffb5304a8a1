"""The paper's constant, against the full tensor."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.gsm.certificate import band
from tests.core import reference
from tests.core.gsm.models import TINY_LEVELS, models
from tests.core.reference import Model
from tests.core.worlds import as_fit, examples


@examples(10)
@given(models, st.integers(0, 100))
def test_the_band_is_the_papers_constant(models: list[Model], seed: int) -> None:
    everything = range(len(TINY_LEVELS))
    latent = reference.information(models[:1], everything, "latent")
    label = reference.information(models[:1], everything, "label")
    assert band(as_fit(models[0]), seed) == pytest.approx(latent - label, abs=0.08)
