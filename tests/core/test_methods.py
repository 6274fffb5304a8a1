"""Every method behind one call: what it gives and what it tells."""

from __future__ import annotations

import pytest

from core.config import METHODS, GsmCpd, Method
from core.data.table import Table
from core.methods import PHASES, choose
from core.results.selection import Progress
from tests.core.rivals.problems import random_problem

EVERY: list[Method] = [kind() for kind in METHODS if kind is not GsmCpd]
EVERY.append(GsmCpd(ranks=(3, 6), n_models=1, n_init=1))
every_method = pytest.mark.parametrize("method", EVERY, ids=lambda method: method.name)


@every_method
def test_progress_rises_from_encoding_and_names_what_is_chosen(method: Method) -> None:
    table = Table.of_codes(random_problem(4))
    told: list[Progress] = []
    outcome = choose(table, 4, method, told.append, [f"x{n}" for n in range(9)])
    fractions = [progress.fraction for progress in told]
    assert fractions == sorted(fractions)
    assert PHASES["encode"][1] <= fractions[0] < fractions[-1] == 1
    selected = [progress.selected for progress in told if progress.selected is not None]
    assert [feature.name for feature in selected] == [f"x{n}" for n in outcome.features]
    assert [feature.rank for feature in selected] == [1, 2, 3, 4]


@every_method
def test_without_names_the_same_is_chosen_and_nobody_named(method: Method) -> None:
    table = Table.of_codes(random_problem(5, missing=True))
    told: list[Progress] = []
    alone = choose(table, 3, method, told.append)
    assert alone.features == choose(table, 3, method, names="abcdefghi").features
    assert all(progress.selected is None for progress in told)


def test_only_our_method_has_models() -> None:
    table = Table.of_codes(random_problem(6))
    fitted = {m.name: len(choose(table, 2, m).outcome.fits) for m in EVERY}
    assert {name: n for name, n in fitted.items() if n} == {"gsm_cpd": 1}
