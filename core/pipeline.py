"""The one door: named columns in, a selection with all that explains it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from numpy.typing import ArrayLike

from core.callbacks import ignore
from core.checkpoint import Checkpoint
from core.config import Bootstrap, Compare, SelectionConfig
from core.data.preparation import Prepared, prepare
from core.experiments.comparison import compare_methods
from core.experiments.stability import measure_stability
from core.experiments.trial import Ground, Timer, evaluate
from core.methods import PHASES, choose
from core.results import OnProgress, Phase, Progress, SelectionResult, describe_config


def select_features(
    columns: Mapping[str, ArrayLike],
    target: str,
    config: SelectionConfig | None = None,
    on_progress: OnProgress | None = None,
    checkpoint: Checkpoint | None = None,
) -> SelectionResult:
    """Choose the features that inform most about the target.

    Parameters
    ----------
    columns : mapping from name to one-dimensional array
        Numbers, booleans or strings; NaN, None and masked values are missing. The target is among
        them.
    target : str
        The label; numbers that are no classes are cut into quantiles.
    config : SelectionConfig, optional
        How many features, by which method, from what.
    on_progress : callable, optional
        Told the phase, the fraction done and what was just found; stops the run by raising.
    checkpoint : Checkpoint, optional
        What an interrupted run of the same call completed; this run goes on from it, adds to it,
        and gives the same result. Of a rival it holds the splits of the evaluation alone.

    Raises
    ------
    CoreError
        With a sentence that names the column or option at fault.
    """
    config = config or SelectionConfig()
    done = checkpoint or Checkpoint()
    reporter = _Reporter(on_progress or ignore, config)
    prepared = prepare(columns, target, config, reporter.encoded)
    about = (prepared.problem, _number(config), config.method, reporter.chosen)
    outcome = choose(*about, prepared.names, done.selection)
    result = _unexplained(target, prepared, config)
    if config.evaluate is not None:
        ground = Ground.of(columns, prepared, config.evaluate)
        about_trials = (ground, len(outcome.features), config.method, config.evaluate)
        found = evaluate(*about_trials, reporter.evaluated, done.trials)
        result = replace(result, evaluation=found)
    result = replace(result, notes=(*prepared.notes, *outcome.notes))
    return outcome.explain(result, prepared.names)


def add_experiments(
    result: SelectionResult,
    columns: Mapping[str, ArrayLike],
    config: SelectionConfig,
    compare: Compare | None = None,
    bootstrap: Bootstrap | None = None,
    on_progress: OnProgress | None = None,
    timer: Timer | None = None,
) -> SelectionResult:
    """Complete a selection by a comparison of methods and by its stability, where asked for.

    Parameters
    ----------
    result, columns, config
        What `select_features` gave and was given.
    compare : Compare, optional
        Which methods, on how many splits.
    bootstrap : Bootstrap, optional
        How many samples the features are chosen on anew.
    on_progress : callable, optional
        Told the phase and the fraction done of each; stops the run by raising.
    timer : callable, optional
        Gives seconds, for the times of the methods.

    """
    tell = on_progress or ignore
    prepared = prepare(columns, result.target, config, ignore)
    k = _number(config)
    if compare is not None:
        ground = Ground.of(columns, prepared, compare.evaluate)
        report = partial(_tell_phase, tell, "compare")
        result = replace(result, comparison=compare_methods(ground, k, compare, report, timer))
    if bootstrap is not None:
        about = (prepared.problem, k, config.method, bootstrap, prepared.names, result.names)
        found = measure_stability(*about, partial(_tell_phase, tell, "resample"))
        result = replace(result, stability=found)
    return result


def _number(config: SelectionConfig) -> int | None:
    return None if config.k == "auto" else config.k


def _unexplained(target: str, prepared: Prepared, config: SelectionConfig) -> SelectionResult:
    """The result as far as it does not depend on what is chosen."""
    return SelectionResult(
        target=target,
        selected=(),
        left_out=(),
        dropped=prepared.dropped,
        suggested_k=0,
        n_rows=prepared.problem.n_rows,
        n_distinct_rows=None,
        encoding=prepared.encoding,
        config=describe_config(config),
    )


def _tell_phase(tell: OnProgress, phase: Phase, fraction: float) -> None:
    tell(Progress(phase=phase, fraction=fraction))


class _Reporter:
    """Progress of the whole run, in which the selection is as long as one trial."""

    def __init__(self, on_progress: OnProgress, config: SelectionConfig) -> None:
        self._tell = on_progress
        self._share = 1 / (1 + (config.evaluate.n_splits if config.evaluate is not None else 0))

    def encoded(self, done: float) -> None:
        low, high = PHASES["encode"]
        _tell_phase(self._tell, "encode", (low + (high - low) * min(done, 1.0)) * self._share)

    def chosen(self, progress: Progress) -> None:
        self._tell(replace(progress, fraction=progress.fraction * self._share))

    def evaluated(self, done: float) -> None:
        _tell_phase(self._tell, "evaluate", self._share + (1 - self._share) * done)
