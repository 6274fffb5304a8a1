"""The truth behind a claim of held-out information.

Cross-fitting chooses and fits on all folds but one. What it estimates is therefore not what the
model in hand tells, but the mean over tables of such a size: what K columns tell on fresh rows,
chosen and fitted by the same method on (n_folds - 1) / n_folds as many rows. That mean is taken
over as many tables as there are seeds, drawn for nothing else, each held against 50,000 fresh rows
of its own: a million for twenty seeds.

    E[log P(y | the first K columns of the table's own path) - log P(y)]

under the models of the table, P(y) being its shares of the classes. As in the claim, a model is
believed as far as its rows reach: one more row that could be of any class is added to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from benchmarks.units import OURS, Document, do_units, read_units
from benchmarks.world import TARGET, Table, World
from benchmarks.worlds import WORLDS
from core.arrays import Bytes, Floats
from core.config import GsmCpd, SelectionConfig
from core.data.recoding import encode_with
from core.pipeline import select_features
from core.results.selection import ModelFit, SelectionResult

N_FRESH = 50_000
ROWS_AT_ONCE = 10_000
_SEED = 1_000_000
"""Tables that truth is learnt from are none of those that are decided on."""

LENGTH = 10
"""A path of this length at least is asked for, as all sizes count while k is open."""

_TINY = 1e-300


class Relearnt(NamedTuple):
    """A table of a world drawn anew, to choose up to `k` columns on."""

    world: str
    seed: int
    version: str
    k: int


def learn_anew(units: Sequence[Document], store: Path) -> list[Document]:
    """What K columns tell on fresh rows, for every world in which something was claimed."""
    claims = [u for u in units if u["decider"] == OURS and u["information"] is not None]
    wanted = dict.fromkeys(_relearnt(claims, unit) for unit in claims)
    tasks = [task for task in wanted if task.k > 0]
    done = {_task(unit) for unit in read_units(store)}
    todo = [task for task in tasks if task not in done]
    do_units(todo, _tell, lambda task: f"{task.world}, fresh rows, table {task.seed}", store)
    return [unit for unit in read_units(store) if _task(unit) in wanted]


def _task(unit: Document) -> Relearnt:
    return Relearnt(*(unit[field] for field in Relearnt._fields))


def _relearnt(claims: Sequence[Document], unit: Document) -> Relearnt:
    k = max(len(claim["chosen"]) for claim in claims if claim["world"] == unit["world"])
    return Relearnt(unit["world"], unit["seed"], unit["version"], k)


def _tell(task: Relearnt) -> Document:
    world, folds = WORLDS[task.world], GsmCpd().n_folds
    learnt = world.table(_SEED + task.seed, world.n_rows * (folds - 1) // folds)
    k = min(max(task.k, LENGTH), len(learnt) - 1)
    result = select_features(learnt, TARGET, SelectionConfig(k))
    return {
        **task._asdict(),
        "information": information_on_fresh(result, world, task.seed).tolist(),
    }


def information_on_fresh(result: SelectionResult, world: World, seed: int) -> Floats:
    """What the first K = 0, 1, ... chosen columns tell about the label of fresh rows, in nats."""
    n_blocks = N_FRESH // ROWS_AT_ONCE
    seeds = range(seed * n_blocks, (seed + 1) * n_blocks)
    blocks = [_codes(result, world.fresh(one, ROWS_AT_ONCE)) for one in seeds]
    losses = np.mean([_losses(result, block) for block in blocks], axis=0)
    information: Floats = losses[0] - losses
    return information


def _codes(result: SelectionResult, table: Table) -> dict[str, Bytes]:
    learnt = {column.name: column for column in result.encoding}
    return {name: encode_with(learnt[name], table[name]) for name in [*result.names, TARGET]}


def _losses(result: SelectionResult, codes: Mapping[str, Bytes]) -> Floats:
    """The mean over the rows, for every K; the models' distributions of the label are averaged."""
    labels, doubt = codes[TARGET], 1 / (result.n_rows + 1)
    posteriors = [_Posterior.begin(model, len(labels)) for model in result.models]
    losses = [_loss(posteriors, labels, doubt)]
    for name in result.names:
        for posterior in posteriors:
            posterior.learn(name, codes[name])
        losses.append(_loss(posteriors, labels, doubt))
    return np.array(losses)


def _loss(posteriors: Sequence[_Posterior], labels: Bytes, doubt: float) -> float:
    beliefs = np.mean([posterior.label() for posterior in posteriors], axis=0)
    true = beliefs[np.arange(len(labels)), labels]
    return -float(np.log((1 - doubt) * true + doubt / beliefs.shape[1]).mean())


@dataclass(frozen=True)
class _Posterior:
    """Unnormalised log P(z | what was learnt), (n_rows, F)."""

    model: ModelFit
    logs: Floats

    @classmethod
    def begin(cls, model: ModelFit, n_rows: int) -> _Posterior:
        return cls(model, np.tile(np.log(np.maximum(model.weights, _TINY)), (n_rows, 1)))

    def learn(self, name: str, codes: Bytes) -> None:
        """A value that is missing, or that no factor has, tells nothing."""
        factor = self.model.factors[self.model.variables.index(name)]
        known = codes < len(factor)
        self.logs[known] += np.log(np.maximum(factor, _TINY))[codes[known]]

    def label(self) -> Floats:
        """P(y | what was learnt), (n_rows, C)."""
        beliefs: Floats = softmax(self.logs, axis=1) @ self.model.factors[-1].T
        return beliefs
