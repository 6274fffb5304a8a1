"""The fits that features are chosen under: of a table, or of two ways to cut it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil

from core.budgets import is_many
from core.config import GsmCpd
from core.cost.gsm import usual_fit
from core.cpd.em import FIRST_ITERATIONS, fit_models
from core.cpd.model import CpdFit
from core.cpd.rows import Rows
from core.cpd.spread import SpreadRows, gather
from core.data.problem import CodedProblem
from core.fit_config import CpdConfig
from core.gsm.completed import Completed

_STAGES = (1 / 3, 1 / 3)
_STAGES_OF_MANY = (1 / 3, 2 / 3)
"""What of a fit is done when rows are gathered, and when a few of them are fitted."""

TellFit = Callable[[float, float | None], None]
"""Told the share of the phase that is done, and the log-likelihood where there is one."""


class Fitting:
    """As many models of a table as are wanted; half of them of the `plain` one, if there is one."""

    def __init__(
        self,
        problem: CodedProblem,
        plain: CodedProblem | None,
        method: GsmCpd,
        config: CpdConfig,
        focus: tuple[int, ...],
        tell: TellFit,
        done: Completed,
    ) -> None:
        self._problem, self._plain, self._family = problem, plain, method.family
        self._config, self._focus, self._done = config, focus, done
        usual = min(usual_fit(problem.n_rows, len(problem.n_levels)), config.max_iter)
        stages = _STAGES_OF_MANY if is_many(problem.n_rows) else _STAGES
        self._progress = _Progress(tell, stages, usual, n_tables=1 if plain is None else 2)
        self.n_models = ceil(method.n_models / self._progress.n_tables)

    def fit(self, table: CodedProblem, rows: Rows | SpreadRows) -> list[CpdFit]:
        """So many models, of rows that somebody holds."""
        levels, told, started = table.table_levels, self._progress, self._done.started
        return fit_models(
            rows, levels, self._config, self.n_models, told.iterated, told.wait, told.on_few,
            started.halfway, started.keep,
        )  # fmt: skip

    def fit_and_forget(self) -> int | None:
        """Complete all models, those of the plain table last; tells how many rows differ.

        Rows are held no longer than they are fitted. What is fitted already is not again.
        """
        self._progress.wait()
        done = self._done
        if self._plain is not None and done.fits is None:
            if not done.started.plain_fits:
                done.started.next_table(self._fit_alone(self._plain, None)[0])
            self._progress.next_table()
        own, n_distinct = self._fit_alone(self._problem, done.fits)
        done.complete_fits([*own, *done.started.plain_fits])
        return n_distinct

    @contextmanager
    def gather(self, table: CodedProblem | None = None) -> Iterator[Rows | SpreadRows]:
        """The rows of the table, or of another, as models learn from them."""
        table, told = table or self._problem, self._progress
        with gather(table, self._family, told.wait, told.gathered) as rows:
            yield rows.focused(self._focus)

    def _fit_alone(
        self, table: CodedProblem, fits: list[CpdFit] | None
    ) -> tuple[list[CpdFit], int | None]:
        with self.gather(table) as rows:
            return fits or self.fit(table, rows), rows.n_distinct


@dataclass
class _Progress:
    """How far a fit is that may be one of two, of which the last is the one that is shown."""

    tell: TellFit
    stages: tuple[float, float]
    usual: float
    n_tables: int
    _n_done: int = 0
    _within: float = 0.0

    def wait(self) -> None:
        self._tell(None)

    def gathered(self, fraction: float) -> None:
        self._within = max(self._within, self.stages[0] * fraction)
        self._tell(None)

    def on_few(self, iteration: int, _loglik: float) -> None:
        gathered, fitted = self.stages
        self._within = gathered + (fitted - gathered) * min(iteration / FIRST_ITERATIONS, 1.0)
        self._tell(None)

    def iterated(self, iteration: int, loglik: float) -> None:
        before, is_last = self.stages[1], self._n_done == self.n_tables - 1
        done = iteration / self.usual if is_last else min(iteration / self.usual, 1.0)
        self._within = before + (1 - before) * done
        self._tell(loglik if is_last else None)

    def next_table(self) -> None:
        self._n_done += 1
        self._within = 0.0

    def _tell(self, loglik: float | None) -> None:
        self.tell((self._n_done + self._within) / self.n_tables, loglik)
