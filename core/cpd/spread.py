"""Models fitted to rows that lie in shards: a pass asks all of them and adds up the answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from core import budgets
from core.arrays import Floats, Ints, Truths
from core.blocks.engine import Blocks, Memory
from core.callbacks import OnFraction, OnWait, ignore
from core.cpd.bank import Bank, Hidden, Models, uniform_scale
from core.cpd.layout import Parameters
from core.cpd.packing import level_rows
from core.cpd.rows import Rows, logs_of_shares, prepare_rows, shares_of
from core.cpd.shards import Packer, Question, Shard, Sums, add_up
from core.cpd.thinning import draw_few
from core.data.problem import CodedProblem
from core.data.sources import AtHand, whole_of
from core.data.stretches import cut
from core.fit_config import Family
from core.workers import Workers


@dataclass(frozen=True, eq=False)
class SpreadRows:
    """What `Rows` says of itself, of rows that lie in shards; `few` of them stand for all."""

    blocks: Blocks[Shard]
    few: Rows
    marginal: Floats
    var_start: Ints
    classes: Ints
    class_weights: Floats
    hidden: Truths | None = None
    n_distinct: int | None = None

    @property
    def n_vars(self) -> int:
        """Variables that are modelled."""
        return len(self.var_start) - 1

    @property
    def class_sizes(self) -> Ints:
        """(C,) distinct rows of each class among the few, from which every state begins."""
        return self.few.class_sizes

    def focused(self, variables: Sequence[int]) -> SpreadRows:
        """The same rows, of which states explain some variables, and the label; none means all."""
        few = self.few.focused(variables)
        return replace(self, few=few, hidden=few.hidden)


@contextmanager
def gather(
    problem: CodedProblem,
    family: Family,
    on_wait: OnWait = ignore,
    on_made: OnFraction = ignore,
) -> Iterator[Rows | SpreadRows]:
    """The rows of a problem as models learn from them, in shards where there are many."""
    if not budgets.is_spread(problem.n_rows, len(problem.columns)):
        yield prepare_rows(
            problem.table, problem.table_levels, family, problem.row_weights, on_wait=on_wait
        )
        return
    few = _draw_few(problem, family)
    on_wait()
    shares = shares_of(_level_weights(problem, family))
    levels = problem.table_levels[: len(shares)]
    source = problem.source or AtHand(problem.at_hand)
    packer = Packer(
        source=whole_of(source),
        tables=problem.tables,
        n_levels=levels,
        classes=few.classes if family == "per_class" else None,
        logs=logs_of_shares(shares),
        columns=problem.at_hand if isinstance(problem.engine, Memory) else None,
    )
    held = problem.class_weights
    n_rows = budgets.rows_of_shard(len(problem.columns))
    stretches = cut(problem.labels, problem.row_weights, n_rows, source)
    with problem.engine.spread(packer, stretches, on_wait, on_made) as blocks:
        yield SpreadRows(
            blocks=blocks,
            few=few,
            marginal=np.concatenate([[1.0], *shares]),
            var_start=level_rows(levels),
            classes=few.classes,
            class_weights=held[few.classes] if family == "per_class" else np.array([held.sum()]),
        )


def _draw_few(problem: CodedProblem, family: Family) -> Rows:
    """Rows that stand for all, drawn class by class where classes own states."""
    classes = problem.labels
    if family == "joint":
        classes = np.broadcast_to(np.uint8(0), problem.n_rows)
    drawn, weights = draw_few(classes, problem.row_weights, problem.seed)
    return prepare_rows(problem.take(drawn).table, problem.table_levels, family, weights)


def _level_weights(problem: CodedProblem, family: Family) -> list[Floats]:
    """(n_levels,) weight of each level of the variables that are modelled."""
    held = zip(problem.held(), problem.n_levels, strict=True)
    features = [weights[:n] for weights, n in held]
    labels = problem.class_weights
    return [*features, labels] if family == "joint" else features


class SpreadBank(Models):
    """The E- and M-step of all models over rows in shards: sums are all that is kept."""

    rows: SpreadRows

    def __init__(
        self,
        rows: SpreadRows,
        n_states: Ints,
        n_models: int,
        smoothing: float,
        workers: Workers,
        on_wait: OnWait,
    ) -> None:
        super().__init__(rows, n_states, n_models, smoothing, workers)
        self._on_wait = on_wait
        self._sums: Sums | None = None

    @property
    def row_weight(self) -> Floats:
        """(n_models,) weight of all the rows."""
        return np.full(self.layout.n_models, self.rows.class_weights.sum())

    def of_fewer(self, n_models: int) -> SpreadBank:
        """The same for fewer models."""
        return SpreadBank(
            self.rows, self.n_states, n_models, self.smoothing, self.workers, self._on_wait
        )

    def expect(self, parameters: Parameters, hidden: Hidden = None) -> tuple[Floats, Floats]:
        """E-step, in the same pass as the sums of the M-step."""
        hidden = self.rows.hidden if hidden is None else hidden
        self.workers.run_ranges(
            lambda v0, v1: self._take_logs(parameters, hidden, v0, v1), self.rows.n_vars
        )
        question = Question(
            self.layout, len(self.n_states), self.rows.var_start, self._logs,
            self._log_weights(parameters),
        )  # fmt: skip
        blocks, listen = self.rows.blocks, lambda _: self._on_wait()
        self._sums = blocks.fold(add_up, question, self.workers, listen)
        return self._sums.loglik, self._log_prior()

    def maximise(self) -> Parameters:
        """M-step from the sums of the last E-step."""
        assert self._sums is not None
        level_counts = self._sums.level_counts
        probs = np.empty_like(level_counts)
        probs[:, 0] = 1
        self.workers.run_ranges(
            lambda v0, v1: self._update(level_counts, v0, v1, probs), self.rows.n_vars
        )
        return Parameters(self._new_weights(level_counts[:, 0]), probs)


def bank_of(
    rows: Rows | SpreadRows,
    n_states: Ints,
    n_models: int,
    smoothing: float,
    workers: Workers,
    on_wait: OnWait = ignore,
) -> Models:
    """Models that all learn from all rows, wherever those lie."""
    if isinstance(rows, SpreadRows):
        return SpreadBank(rows, n_states, n_models, smoothing, workers, on_wait)
    return Bank(rows, n_states, uniform_scale(rows.weights, n_models), smoothing, workers)
