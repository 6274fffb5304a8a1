"""How many latent states: cross-validated misclassification, all folds side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.arrays import MISSING, Bytes, Floats, Ints
from core.callbacks import OnFraction, OnWait, ignore
from core.config import CpdConfig
from core.cpd.bank import Bank, Parameters
from core.cpd.em import EmRun, states_per_class
from core.cpd.rows import Rows, prepare_rows
from core.cpd.seeding import seed_parameters
from core.data.resampling import stratified_folds
from core.results import RankScore
from core.workers import Workers

CV_ITERATIONS = 40
"""Iterations at most for one rank in cross-validation: the order of the ranks shows long before."""

ROWS_PER_STATE = 5


def search_rank(
    codes: Bytes,
    n_levels: Ints,
    config: CpdConfig,
    ranks: Sequence[int],
    n_folds: int,
    row_weights: Floats | None = None,
    on_progress: OnFraction = ignore,
) -> list[RankScore]:
    """Misclassification of every rank, over stratified folds; `config.rank` is not looked at.

    All folds of a rank are fitted as one bank on the same packed rows, each with its own rows'
    weights set to zero, and every rank starts from the states of the one before.
    """
    folds = stratified_folds(codes[:, -1], n_folds, config.seed)
    labelled = codes[:, -1] != MISSING
    weights = np.ones(len(codes)) if row_weights is None else row_weights
    on_progress(0.0)
    weights = weights * labelled
    rows = prepare_rows(codes, n_levels, config.family, weights, folds, lambda: on_progress(0.0))
    scores: list[RankScore] = []
    known: dict[tuple[int, ...], RankScore] = {}
    with Workers(config.n_threads) as pool:
        previous: EmRun | None = None
        for i, rank in enumerate(ranks):
            n_states = states_per_class(rows, rank)
            key = tuple(n_states)
            if key not in known:
                report = _Report(on_progress, i, len(ranks))
                previous = _fit_folds(
                    rows, n_states, n_folds, replace(config, rank=rank), previous, pool, report
                )
                known[key] = _score(previous, rows, rank, n_folds, report.wait)
            scores.append(replace(known[key], rank=rank))
    return scores


def worthwhile_ranks(ranks: Sequence[int], n_rows: int) -> tuple[int, ...]:
    """Those with enough rows for every state, and at least the lowest.

    States of two or three rows are mostly smoothing: such a model may still classify, but it
    understates what the features tell.
    """
    enough = tuple(rank for rank in ranks if rank * ROWS_PER_STATE <= n_rows)
    return enough or (min(ranks),)


def best_rank(scores: Sequence[RankScore]) -> int:
    """The rank with the lowest error; the lowest of equals."""
    return min(scores, key=lambda score: (score.error, score.rank)).rank


class _Report:
    def __init__(self, on_progress: OnFraction, index: int, n_ranks: int) -> None:
        self._tell, self._index, self._n_ranks = on_progress, index, n_ranks
        self._done = 0.0

    def __call__(self, iteration: int, _loglik: float) -> None:
        self._done = iteration / (CV_ITERATIONS + 1)
        self.wait()

    def wait(self) -> None:
        self._tell((self._index + self._done) / self._n_ranks)


def _fit_folds(
    rows: Rows,
    n_states: Ints,
    n_folds: int,
    config: CpdConfig,
    previous: EmRun | None,
    pool: Workers,
    report: _Report,
) -> EmRun:
    in_training = rows.folds[:, None] != np.arange(n_folds)
    scale = (rows.weights[:, None] * in_training).astype(np.float32)
    bank = Bank(rows, n_states, scale, config.smoothing, pool)
    start = seed_parameters(bank, config.seed, report.wait)
    if previous is not None:
        start = _continue_from(previous, bank, start)
    run = EmRun(bank, start, config, report)
    run.iterate(min(CV_ITERATIONS, config.max_iter), until_converged=True)
    return run


def _continue_from(previous: EmRun, bank: Bank, seeds: Parameters) -> Parameters:
    """The states found at the rank before, and seeds for the rest; each gets an even weight."""
    old, new = previous.bank.layout, bank.layout
    probs = new.to_lanes(seeds.probs)
    shared = min(old.n_states, new.n_states)
    taken = np.minimum(previous.bank.n_states, bank.n_states)
    old_probs = old.to_lanes(previous.parameters.probs)
    for c, n in enumerate(np.minimum(taken, shared)):
        probs[c, :, :, :n] = old_probs[c, :, :, :n]
    flat = probs.reshape(*probs.shape[:2], -1)
    return Parameters(seeds.weights, new.to_tiles(flat))


def _score(run: EmRun, rows: Rows, rank: int, n_folds: int, on_wait: OnWait) -> RankScore:
    predicted, truth = _predict_held_out(run, rows, on_wait)
    wrong = np.bincount(rows.folds, weights=rows.weights * (predicted != truth), minlength=n_folds)
    total = np.bincount(rows.folds, weights=rows.weights, minlength=n_folds)
    errors = wrong[total > 0] / total[total > 0]
    se = float(errors.std(ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else 0.0
    return RankScore(rank=rank, error=float(wrong.sum() / total.sum()), error_se=se)


def _predict_held_out(run: EmRun, rows: Rows, on_wait: OnWait) -> tuple[Ints, Ints]:
    """Most probable label of every row under the model that did not see it, and its true one."""
    bank, own = run.bank, np.arange(len(rows.weights))
    if len(rows.classes) > 1 or rows.n_vars < rows.source.shape[1]:
        prior = np.log(rows.class_weights)
        scores = []
        for c in range(len(prior)):
            scores.append(prior[c] + bank.class_loglik(run.parameters, c)[own, rows.folds])
            on_wait()
        return np.argmax(scores, axis=0), np.repeat(np.arange(len(prior)), rows.class_sizes)
    label = rows.n_vars - 1
    posterior = bank.posterior(run.parameters, hide=label)
    levels = slice(rows.var_start[label], rows.var_start[label + 1])
    label_factor = bank.layout.to_lanes(run.parameters.probs)[0, levels]
    truth = rows.source[rows.joined.rows, label].astype(np.int64)
    predicted = np.empty(len(own), dtype=np.int64)
    for fold in range(bank.layout.n_models):
        mine = rows.folds == fold
        predicted[mine] = (posterior[mine, fold] @ label_factor[:, fold].T).argmax(axis=1)
    return predicted, truth
