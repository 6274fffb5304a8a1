"""The one door: named columns in, a selection with all that explains it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from core.blocks.engine import MEMORY, Engine
from core.callbacks import OnWait, ignore
from core.checkpoint import Checkpoint
from core.config import Bootstrap, Compare, Method, SelectionConfig
from core.data.preparation import Prepared, preparing, unfold
from core.data.sources import Origin
from core.data.texts import Column
from core.data.unfolding import Unfolded
from core.experiments.comparison import compare_methods
from core.experiments.ground import Ground
from core.experiments.stability import measure_stability
from core.experiments.trial import Timer, evaluate
from core.methods import PHASES, Choice, choose
from core.results.measures import Missing, find_missing
from core.results.selection import OnProgress, Phase, Progress, SelectionResult, describe_config
from core.review.level_counts import count_levels
from core.review.warnings import look_for_warnings


def select_features(
    columns: Mapping[str, Column],
    target: str,
    config: SelectionConfig | None = None,
    on_progress: OnProgress | None = None,
    checkpoint: Checkpoint | None = None,
    *,
    compare: Compare | None = None,
    bootstrap: Bootstrap | None = None,
    timer: Timer | None = None,
    engine: Engine = MEMORY,
    origin: Origin | None = None,
    beside: Sequence[Method] = (),
) -> SelectionResult:
    """Choose the features that inform most about the target.

    Parameters
    ----------
    columns : mapping from name to one-dimensional array
        Numbers, booleans, strings or moments (datetime64); NaN, NaT, None and masked values are
        missing. The target is among them.
    target : str
        The label; numbers that are no classes are cut into quantiles.
    config : SelectionConfig, optional
        How many features, by which method, from what.
    on_progress : callable, optional
        Told the phase, the fraction done and what was just found; stops the run by raising. Once
        the features are chosen, `Enough` ends it with what is done. Each experiment begins at 0
        again.
    checkpoint : Checkpoint, optional
        What an interrupted run of the same call completed; this run goes on from it, adds to it,
        and gives the same result. Of a rival it holds the splits of the evaluation alone, of an
        experiment nothing.
    compare : Compare, optional
        Which methods are compared, on how many splits.
    bootstrap : Bootstrap, optional
        On how many halves of the rows features are chosen anew, to see how stable the choice is.
    timer : callable, optional
        Gives seconds, for the times of the compared methods.
    engine : Engine, optional
        Where what is large lies: `core.blocks.scratch.Scratch(directory)` for tables that memory
        cannot hold, whose columns are then best `core.data.deferred.Deferred`. It changes nothing
        about the answer.
    origin : Origin, optional
        Where processes elsewhere find the same columns, for an engine that has such.
    beside : sequence of Method, optional
        What others try on the same table: columns that these need take part, too. Those that
        nobody needs are taken for excluded, and not looked at.

    Raises
    ------
    CoreError
        With a sentence that names the column or option at fault.
    """
    config = config or SelectionConfig()
    done, reporter = checkpoint or Checkpoint(), _Reporter(on_progress or ignore, config)
    together = (*beside, *(compare.methods if compare else ()))
    unfolded = unfold(columns, target, config, together, engine, origin, reporter.again)
    there = preparing(
        unfolded.columns, target, unfolded.config, reporter.encoded, engine, origin, reporter.again
    )
    with there as prepared:
        result = _select(prepared, unfolded, target, config, reporter, done)
        if any((config.evaluate, compare, bootstrap)):
            # Every trial takes most of the rows, several times.
            asked = _Experiments(unfolded, prepared.at_hand(), compare, bootstrap, timer)
            result = asked.hold(result, reporter, done)
    return replace(result, missing=_missing(result, config, compare, bootstrap))


def _select(
    prepared: Prepared,
    unfolded: Unfolded,
    target: str,
    asked: SelectionConfig,
    reporter: _Reporter,
    done: Checkpoint,
) -> SelectionResult:
    """What is chosen, and what there is to say about it."""
    table, config, wait = prepared.table, unfolded.config, reporter.explained
    choice = choose(
        table, _size(config), config.method, reporter.chosen, prepared.names, done.selection
    )
    bare = replace(_unexplained(target, prepared, choice, asked, wait), derived=unfolded.derived)
    result = choice.explain(bare, prepared.names, wait)
    warnings = look_for_warnings(
        table, prepared.names, prepared.label.levels, choice.recipe, result, wait
    )
    return replace(result, warnings=warnings)


def _size(config: SelectionConfig) -> int | None:
    return None if config.k == "auto" else config.k


@dataclass(frozen=True)
class _Experiments:
    """What is to be tried on the same table once features are chosen."""

    unfolded: Unfolded
    prepared: Prepared
    compare: Compare | None
    bootstrap: Bootstrap | None
    timer: Timer | None

    def hold(
        self, result: SelectionResult, reporter: _Reporter, done: Checkpoint
    ) -> SelectionResult:
        """The result with what came of them."""
        config, prepared = self.unfolded.config, self.prepared
        method, ground = config.method, partial(Ground.of, self.unfolded.columns, prepared)
        if (how := config.evaluate) is not None:
            size = len(result.selected)
            found = evaluate(ground(how), size, method, how, reporter.evaluated, done.trials)
            result = replace(result, evaluation=found)
        if (compare := self.compare) is not None:
            on_ground, told = ground(compare.evaluate), partial(reporter.tried, "compare")
            comparison = compare_methods(on_ground, _size(config), compare, told, self.timer)
            result = replace(result, comparison=comparison)
        if (halves := self.bootstrap) is not None:
            told = partial(reporter.tried, "resample")
            measured = measure_stability(
                prepared.table, method, halves, prepared.names, result, told
            )
            result = replace(result, stability=measured)
        return result


def _missing(
    result: SelectionResult,
    config: SelectionConfig,
    compare: Compare | None,
    bootstrap: Bootstrap | None,
) -> tuple[Missing, ...]:
    """What an experiment that was ended early left undone."""
    how, evaluation = config.evaluate, result.evaluation
    comparison, stability = result.comparison, result.stability
    return find_missing(
        ("evaluation", evaluation.n_splits if evaluation else 0, how.n_splits if how else 0),
        (
            "comparison",
            comparison.n_splits if comparison else 0,
            compare.n_splits if compare else 0,
        ),
        (
            "stability",
            stability.n_samples if stability else 0,
            bootstrap.n_samples if bootstrap else 0,
        ),
    )


def _unexplained(
    target: str, prepared: Prepared, choice: Choice, config: SelectionConfig, on_wait: OnWait
) -> SelectionResult:
    """The result as far as it does not depend on what is chosen."""
    return SelectionResult(
        target=target,
        selected=(),
        left_out=(),
        dropped=prepared.dropped,
        suggested_k=0,
        n_rows=prepared.table.n_rows,
        n_distinct_rows=None,
        encoding=(*prepared.table.describe(choice.recipe, on_wait), prepared.label),
        config=describe_config(config),
        level_counts=count_levels(prepared, choice),
        notes=prepared.notes,
    )


class _Reporter:
    """Progress of the whole run, in which the selection is as long as one trial."""

    def __init__(self, on_progress: OnProgress, config: SelectionConfig) -> None:
        self._on_progress = on_progress
        self._share = 1 / (1 + (config.evaluate.n_splits if config.evaluate is not None else 0))
        self._last = Progress(phase="encode", fraction=0.0)

    def _tell(self, progress: Progress) -> None:
        self._last = replace(progress, loglik=None, selected=None, decided=None)
        self._on_progress(progress)

    def again(self) -> None:
        """Where it is, while somebody elsewhere is waited for."""
        self._on_progress(self._last)

    def encoded(self, done: float) -> None:
        fraction = PHASES["encode"][1] * min(done, 1.0) * self._share
        self._tell(Progress(phase="encode", fraction=fraction, within=done))

    def chosen(self, progress: Progress) -> None:
        self._tell(replace(progress, fraction=progress.fraction * self._share))

    def explained(self) -> None:
        self._tell(Progress(phase="select", fraction=self._share, within=self._share))

    def evaluated(self, done: float) -> None:
        fraction = self._share + (1 - self._share) * done
        self._tell(Progress(phase="evaluate", fraction=fraction, within=done))

    def tried(self, phase: Phase, done: float) -> None:
        self._tell(Progress(phase=phase, fraction=done, within=done))
