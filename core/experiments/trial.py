"""One trial: a selection on the training part of a split, and its scores on the rest."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from core.callbacks import Enough, OnFraction, ignore, part
from core.config import Evaluate, Method
from core.experiments.ground import Ground, Part
from core.experiments.judges import judge
from core.experiments.summary import mean_baseline, summarise
from core.methods import choose
from core.results.measures import Evaluation, Scores, Trial
from core.results.selection import Progress
from core.scores import baseline_scores

Timer = Callable[[], float]

SELECTING = 0.9
"""What part of a trial the selection takes, roughly; nearest neighbours take most of the rest."""


def hold_trial(
    ground: Ground,
    k: int,
    method: Method,
    split: int,
    how: Evaluate,
    *,
    on_progress: OnFraction = ignore,
    timer: Timer | None = None,
) -> Trial:
    """Select k features by `method` on one split and measure them on the rows held out.

    Parameters
    ----------
    ground : Ground
        The data.
    k : int
        How many features; with 0 only what all of them reach is measured.
    method : Method
        By which method.
    split : int
        Which one of the splits; the same for every method.
    how : Evaluate
        How much is held out, and on which values distances are taken.
    on_progress : callable
        Told the fraction that is done; stops the trial by raising.
    timer : callable, optional
        Gives seconds; the time of the selection alone is kept.

    """
    rows = ground.split(how, split)
    table = ground.table.take(rows.train)
    started = timer() if timer else 0.0

    def tell_chosen(progress: Progress) -> None:
        on_progress(SELECTING * progress.fraction)

    def tell_judged(done: float) -> None:
        on_progress(SELECTING + (1 - SELECTING) * done)

    choice = choose(table, k, method, tell_chosen) if k else None
    seconds = timer() - started if timer else None
    outcome = choice.outcome if choice else None
    train, test = ground.parts(rows, choice.recipe if choice else table.learn("uniform"))
    scores = judge(ground, train, test, outcome, how, tell_judged)
    on_progress(1.0)
    return Trial(
        scores=scores,
        baseline=_baseline(train, test),
        seconds=seconds,
        notes=outcome.notes if outcome else (),
    )


def _baseline(train: Part, test: Part) -> Scores:
    one, other = train.problem, test.problem
    found = baseline_scores(one.labels, other.labels, one.weights, other.weights, one.n_classes)
    return found if test.targets is None else {**found, "r2": 0.0, "rank_correlation": 0.0}


def evaluate(
    ground: Ground,
    k: int,
    method: Method,
    how: Evaluate,
    on_progress: OnFraction,
    done: list[Trial] | None = None,
) -> Evaluation | None:
    """Hold a trial on every split and give the mean and the standard error of the scores.

    The trials that `done` holds are not held again; new ones are added to it. With `Enough` of them
    before one is done there is nothing to tell.
    """
    trials = [] if done is None else done
    with suppress(Enough):
        for index in range(len(trials), how.n_splits):
            tell = part(on_progress, index, how.n_splits)
            trials.append(hold_trial(ground, k, method, index, how, on_progress=tell))
    if not trials:
        return None
    return Evaluation(
        curves=summarise(trials, ground.held_out(how)),
        n_splits=len(trials),
        n_test=len(ground.split(how, 0).test),
        baseline=mean_baseline(trials),
        notes=ground.notes(how),
    )
