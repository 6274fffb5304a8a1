"""Budgets by which a table of some hundred rows is cut into blocks, and few rows stand for all."""

from __future__ import annotations

from core import budgets
from core.cpd import thinning
from core.rivals import whole

SMALL = (
    (budgets, "WHOLE_CELLS", 0),
    (budgets, "SHARD_ROWS", (40, 40)),
    (budgets, "CROSS_ROWS", 60),
    (thinning, "LEAST_OF_CLASS", 5),
    (whole, "CELLS_A_BLOCK", (400, 400)),
)
