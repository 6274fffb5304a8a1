"""One trial: a selection on the training part of a split, and its accuracies on the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from core.arrays import Truths, Values
from core.callbacks import OnFraction, ignore, part
from core.config import Evaluate, Method
from core.data.encoding import as_numbers
from core.data.preparation import Prepared
from core.data.problem import CodedProblem
from core.data.resampling import Split, stratified_split
from core.data.texts import Column
from core.experiments.label_curve import LabelModel, label_curve, of_counts, of_fit
from core.experiments.nearest import evaluate_split
from core.experiments.summary import describe_splits, summarise
from core.measures import Classifier, Evaluation, Trial
from core.methods import Outcome, choose

Timer = Callable[[], float]
Curves = dict[Classifier, tuple[float, ...]]

SELECTING = 0.9
"""What part of a trial the selection takes, roughly; nearest neighbours take most of the rest."""


@dataclass(frozen=True, eq=False)
class Ground:
    """What trials are held on: codes to select from, and the values distances are taken on.

    `values` is (n_rows, n_features): the codes, or raw numbers. `ordered` says of each feature
    whether its values lie on a scale.
    """

    problem: CodedProblem
    values: Values
    ordered: Truths

    @classmethod
    def of(cls, columns: Mapping[str, Column], prepared: Prepared, how: Evaluate) -> Ground:
        """The ground that `how` asks for."""
        features = prepared.encoding[:-1]
        ordered = np.array([column.kind == "continuous" for column in features])
        if how.values == "codes":
            return cls(prepared.problem, prepared.problem.codes, ordered)
        numbers = [as_numbers(c, columns[c.name])[prepared.rows] for c in features]
        return cls(prepared.problem, np.column_stack(numbers), ordered)

    def split(self, how: Evaluate, index: int) -> Split:
        """The same split for every method, whichever others are made."""
        return stratified_split(self.problem.labels, how.test_fraction, self.problem.seed, index)

    def notes(self, how: Evaluate) -> tuple[str, ...]:
        """What limits the meaning of accuracies on these splits."""
        splits = [self.split(how, index) for index in range(how.n_splits)]
        return describe_splits(self.values, self.problem.labels, splits)


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
        How many features.
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
    parts = ground.split(how, split)
    train = ground.problem.take(parts.train)
    started = timer() if timer else 0.0
    outcome = choose(train, k, method, lambda done: on_progress(SELECTING * done.fraction))
    seconds = timer() - started if timer else None

    def tell(done: float) -> None:
        on_progress(SELECTING + (1 - SELECTING) * done)

    curves = _score(ground, train, outcome, parts, how, tell)
    return Trial(curves=curves, seconds=seconds, notes=outcome.notes)


def _score(
    ground: Ground,
    train: CodedProblem,
    outcome: Outcome,
    split: Split,
    how: Evaluate,
    on_progress: OnFraction,
) -> Curves:
    problem, order = ground.problem, outcome.features
    nearest = evaluate_split(
        order, ground.values, ground.ordered, problem.labels, split, how,
        n_threads=problem.n_threads, on_progress=on_progress,
    )  # fmt: skip
    models: dict[Classifier, list[LabelModel]] = {"naive_bayes": [of_counts(train, order)]}
    if outcome.fits:
        models["fitted_model"] = [of_fit(fit, order) for fit in outcome.fits]
    curves: Curves = {"nearest_neighbour": tuple(nearest.tolist())}
    codes = problem.codes[np.ix_(split.test, np.array(order, dtype=np.int64))]
    for classifier, states in models.items():
        found = label_curve(states, codes, problem.labels[split.test], lambda _: on_progress(1.0))
        curves[classifier] = tuple(found.tolist())
    return curves


def evaluate(
    ground: Ground,
    k: int,
    method: Method,
    how: Evaluate,
    on_progress: OnFraction,
    done: list[Trial] | None = None,
) -> Evaluation:
    """Hold a trial on every split and give the mean and the standard error of the accuracies.

    The trials that `done` holds are not held again; new ones are added to it.
    """
    trials = [] if done is None else done
    for index in range(len(trials), how.n_splits):
        tell = part(on_progress, index, how.n_splits)
        trials.append(hold_trial(ground, k, method, index, how, on_progress=tell))
    return Evaluation(
        curves=summarise([trial.curves for trial in trials]),
        n_splits=how.n_splits,
        n_test=len(ground.split(how, 0).test),
        notes=ground.notes(how),
    )
