"""Greedy choice, naive or lazy. Both choose the same features: lazy only skips what cannot win.

Lazy evaluation needs an upper bound on every candidate's gain. While information is exact, the
latent gain of an earlier step is one, by submodularity. Sampled gains may rise by chance, so a
bound is computed anew at every step, from the very configurations that a full evaluation would use,
taken in a few groups. The label's gain is at most the latent one, and at most the doubt about Y.
"""

from __future__ import annotations

import numpy as np

from core.arrays import Floats, Ints, Truths
from core.callbacks import OnWait, in_parts
from core.config import Objective
from core.gsm.copies import Copies
from core.gsm.counted import Counted
from core.gsm.fresh import Fresh
from core.gsm.objective import AveragedObjective, Information
from core.gsm.step import SAMPLING_ERRORS, DecidedBy, Step, Task

BATCH = 16
BATCH_SHARE = 4
"""Of so many evaluated one more is evaluated without a further look at who may win: where bounds
tell nothing, looks after every few would go through all columns as often as there are columns."""

TIE = 1e-3
"""Copies have the same gain but for the rounding of the fit; so close, the first of them counts."""

EXACT_ROUNDING = 1e-12
SAMPLED_ROUNDING = 1e-6


def choose(objective: AveragedObjective, task: Task, done: list[Step] | None = None) -> list[Step]:
    """Choose greedily until the number asked for is reached, or nobody is left.

    `done` are the steps of a run that was interrupted; the new ones are added to it.
    """
    made = [] if done is None else done
    return Search(objective, task, made).go_on(task.n_select, task.on_wait)


class Search:
    """A greedy choice that may go on; it adds to `made`, whose steps it does not make again."""

    def __init__(self, objective: AveragedObjective, task: Task, made: list[Step]) -> None:
        self._objective = objective
        self._task, self._made, self._on_wait = task, made, task.on_wait
        self._n = len(task.chance.observed)
        self._bounds: dict[Objective, Floats] = {
            o: np.full(self._n, np.inf) for o in ("latent", "label")
        }
        self._fresh = Fresh.empty(self._n)
        self._informed = task.informed
        self._steps: list[Step] = []
        self._chosen = list(task.chosen)
        self._in_focus = False
        self._remaining: Ints = np.unique(
            np.concatenate([task.candidates, np.array(task.included, dtype=np.int64)])
        )
        self._among = self._remaining

    def go_on(self, n_select: int, on_wait: OnWait | None) -> list[Step]:
        """All steps, once so many are made or nobody is left."""
        self._on_wait = on_wait
        while len(self._steps) < n_select and len(self._remaining):
            step = self._next()
            self._steps.append(step)
            if self._task.on_step is not None:
                self._task.on_step(step)
        return self._steps[:n_select]

    def _next(self) -> Step:
        n_done = len(self._steps)
        if n_done < len(self._made):
            self._repeat(self._made[n_done])
        elif n_done < len(self._task.included):
            self._made.append(self._include(self._task.included[n_done]))
        else:
            self._made.append(self._best())
        return self._made[n_done]

    def _repeat(self, step: Step) -> None:
        """Stand where the search stood after a step that it once made."""
        self._bounds["latent"][self._remaining] = step.bounds[self._remaining]
        self._informed = step.informed
        self._chosen.append(step.feature)
        self._objective.add(step.feature)
        self._objective.n_evaluations = step.n_evaluations
        self._remaining = self._remaining[self._remaining != step.feature]

    def _include(self, feature: int) -> Step:
        self._prepare()
        self._evaluate(np.array([feature]), with_label=True)
        return self._step(feature, None, "included")

    def _best(self) -> Step:
        """The best candidate by the objective; where no label gain is real, by what rows count.

        Where nothing has told about the label so far, counts of chance would decide: the latent
        gain does, as it does among those in focus, who come first.
        """
        self._prepare()
        if self._task.objective == "label":
            while len(real := self._find_real()):
                best, second = self._pick("label", real)
                if not self._lower("label", best, second):
                    return self._step(best, second, "label")
            if self._informed and self._task.counted is not None and not self._in_focus:
                return self._best_counted(self._task.counted)
            self._forget_label()
        while True:
            self._explore("latent", -np.inf)
            best, second = self._pick("latent", self._seen())
            if not self._lower("latent", best, second):
                return self._step(best, second, "latent")

    def _best_counted(self, counted: Counted) -> Step:
        """The best by what rows say beside each of the chosen, where the model knows no more."""
        charge = self._task.chance.expected["label"]
        best, told = counted.best_two(self._remaining, self._chosen, charge, self._listen)
        self._evaluate(best[~self._fresh.done[best]], with_label=True)
        feature, second = int(best[0]), int(best[1]) if len(best) > 1 else None
        return self._step(feature, second, "counted", float(told[0] - told[-1]))

    def _lower(self, objective: Objective, *features: int | None) -> bool:
        """Cap gains by what is unknown about their features; whether that lowers any.

        If so, the next best are likely to be lowered, and ever more of them are capped at a time:
        where most columns are copies, two by two would go through all columns as often.
        """
        at = np.array([feature for feature in features if feature is not None])
        lowered = self._cap(objective, at)
        n_more = 2
        while lowered:
            seen = self._seen()
            uncapped = seen[np.isinf(self._fresh.caps[seen])]
            best_first = uncapped[np.argsort(-self._net(objective)[uncapped], kind="stable")]
            n_more *= 2
            if not self._cap(objective, best_first[:n_more]):
                return True
        return False

    def _cap(self, objective: Objective, features: Ints) -> bool:
        if self._task.copies is None or not len(features):
            return False
        before = self._fresh.of(objective)[features]
        for part in in_parts(len(features), self._listen, self._task.copies.cost(self._chosen)):
            few = features[part]
            self._fresh.caps[few] = self._caps(self._task.copies, few)
        return bool((self._fresh.of(objective)[features] < before).any())

    def _caps(self, copies: Copies, features: Ints) -> Floats:
        caps = copies.caps(features, self._chosen, self._fresh.latent[features])
        if self._task.counted is None or not self._task.is_capped:
            return caps
        return np.minimum(caps, self._task.counted.least(features, self._chosen))

    def _forget_label(self) -> None:
        """Start over for the latent gain alone, which costs a fraction of the label's."""
        fresh = self._fresh
        self._bounds["latent"] = np.where(fresh.done, fresh.latent, self._bounds["latent"])
        self._fresh = Fresh.empty(self._n)
        if not self._task.lazy:
            self._evaluate(self._remaining, with_label=False)

    def _find_real(self) -> Ints:
        """Candidates whose label gain is real: the best of all among them, or none if none is."""
        self._explore("label", float(self._chance(self._among).min()))
        while len(hopeful := self._may_be_real()):
            self._evaluate(hopeful[: self._batch], with_label=True)
        real = self._seen()[self._is_real(self._seen())]
        if len(real):
            self._informed = True
            self._explore("label", -np.inf)
        return real

    def _may_be_real(self) -> Ints:
        """Those not evaluated whose gain may be real and above every real one, in order.

        The best two of all may not be real: the best real gain is looked for below them.
        """
        seen = self._seen()
        real = self._net("label")[seen[self._is_real(seen)]]
        rest = self._among[~self._fresh.done[self._among]]
        bounds = self._best_possible("label", rest)
        is_hopeful = (bounds > self._chance(rest)) & (bounds >= real.max(initial=-np.inf))
        hopeful: Ints = rest[is_hopeful][np.argsort(-bounds[is_hopeful], kind="stable")]
        return hopeful

    def _net(self, objective: Objective) -> Floats:
        """(N,) gains less what chance adds to each on average, which is what decides."""
        net: Floats = self._fresh.of(objective) - self._task.chance.expected[objective]
        return net

    def _pick(self, objective: Objective, among: Ints) -> tuple[int, int | None]:
        """The best `among` some, and the best of all others that were looked at."""
        values = self._net(objective)
        best = int(among[np.lexsort((among, -values[among]))[0]])
        if self._task.copies is not None:
            tied = among[values[among] >= values[best] * (1 - TIE)]
            best = self._task.copies.first_copy(best, tied)
        others = self._seen()
        others = others[others != best]
        ranked = others[np.lexsort((others, -values[others]))]
        return best, int(ranked[0]) if len(ranked) else None

    def _add(self, feature: int) -> Information:
        self._objective.add(feature)
        self._chosen.append(feature)
        self._remaining = self._remaining[self._remaining != feature]
        self._fresh = Fresh.empty(self._n)
        return self._objective.information()

    def _best_possible(self, objective: Objective, features: Ints) -> Floats:
        """Upper bounds on what decides, with how far rounding may put a bound below its gain."""
        charge = self._task.chance.expected[objective][features]
        return self._bounds[objective][features] - charge + self._rounding

    def _chance(self, features: Ints) -> Floats:
        """What a net label gain must exceed to be real.

        Once some feature told about the label, the model has smoothed most of chance away, and a
        strict test would discard what small data can tell.
        """
        if self._informed:
            return np.zeros(len(features))
        chance = self._task.chance
        threshold: Floats = (chance.significant["label"] - chance.expected["label"])[features]
        return threshold

    def _is_real(self, features: Ints) -> Truths:
        """Whether label gains exceed their own error: of sampling, and of having so many rows."""
        error = SAMPLING_ERRORS * self._fresh.label_se[features] + self._chance(features)
        real: Truths = self._net("label")[features] > error
        return real

    def _prepare(self) -> None:
        """Bring the bounds up to date with S; naively, evaluate everything."""
        first = self._remaining[np.isin(self._remaining, self._task.focus)]
        self._in_focus = len(first) > 0
        self._among = first if self._in_focus else self._remaining
        if not self._task.lazy:
            self._evaluate(self._remaining, with_label=self._task.objective == "label")
            return
        stale = self._bounds["latent"][self._remaining] if self._objective.exact else np.inf
        bounds = self._objective.bounds(self._remaining)
        latent = np.minimum(bounds[:, 0], stale)
        self._bounds["latent"][self._remaining] = latent
        self._bounds["label"][self._remaining] = np.minimum(bounds[:, 1], latent)

    def _explore(self, objective: Objective, floor: float) -> None:
        """Evaluate by falling bound while one may be among the best two and above `floor`."""
        sharp = objective == "latent"
        while len(hopeful := self._hopeful(objective, floor)):
            if not sharp and len(self._seen()) > 1 and len(hopeful) > BATCH:
                self._sharpen(hopeful)
                sharp = True
                continue
            self._evaluate(hopeful[: self._batch], with_label=objective == "label")

    def _hopeful(self, objective: Objective, floor: float) -> Ints:
        """Those not evaluated whose bound may be among the best two and above `floor`, in order."""
        seen = self._net(objective)[self._seen()]
        second = np.partition(seen, -2)[-2] if len(seen) > 1 else -np.inf
        rest = self._among[~self._fresh.done[self._among]]
        bounds = self._best_possible(objective, rest)
        is_hopeful = bounds >= max(second, floor)
        return rest[is_hopeful][np.argsort(-bounds[is_hopeful], kind="stable")]

    def _sharpen(self, features: Ints) -> None:
        """Lower the bounds on label gains where a few configurations hold most of the doubt."""
        bounds = self._objective.label_bounds(features)
        if bounds is not None:
            self._bounds["label"][features] = np.minimum(self._bounds["label"][features], bounds)

    @property
    def _rounding(self) -> float:
        """How far a bound may fall below the gain it bounds, in the precision of each."""
        return EXACT_ROUNDING if self._objective.exact else SAMPLED_ROUNDING

    @property
    def _batch(self) -> int:
        """How many to evaluate before the next look at who may still win."""
        return max(BATCH, len(self._seen()) // BATCH_SHARE)

    def _seen(self) -> Ints:
        return self._among[self._fresh.done[self._among]]

    def _evaluate(self, features: Ints, *, with_label: bool) -> None:
        self._listen()
        if len(features):
            self._fresh.store(self._objective.gains(features, with_label=with_label))

    def _listen(self) -> None:
        if self._on_wait is not None:
            self._on_wait()

    def _step(
        self,
        feature: int,
        runner_up: int | None,
        decided_by: DecidedBy,
        margin: float | None = None,
    ) -> Step:
        fresh = self._fresh
        caps = self._bounds["latent"] = np.where(fresh.done, fresh.latent, self._bounds["latent"])
        bounds = np.full(self._n, -1.0)
        bounds[self._remaining] = caps[self._remaining]
        if runner_up is None:
            margin = None
        elif margin is None:
            values = self._net("latent" if decided_by == "latent" else "label")
            margin = max(float(values[feature] - values[runner_up]), 0.0)
        return Step(
            feature=feature,
            decided_by=decided_by,
            exact=self._objective.exact,
            latent=float(fresh.of("latent")[feature]),
            latent_se=float(fresh.latent_se[feature]),
            label=float(fresh.of("label")[feature]),
            label_se=float(fresh.label_se[feature]),
            runner_up=runner_up,
            margin=margin,
            bounds=bounds,
            information=self._add(feature),
            n_evaluations=self._objective.n_evaluations,
            informed=self._informed,
        )
