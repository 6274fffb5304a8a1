"""The only place that tells methods apart: whichever it is, features are chosen by one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.callbacks import OnWait, ignore
from core.config import GlobalFs, GsmCpd, Iselect, Method, Rival
from core.crossfit.choice import Configuration
from core.crossfit.folds import Plan
from core.data.recipe import Recipe
from core.data.table import Table
from core.gsm.completed import Completed
from core.gsm.method import check_gsm, plan_gsm, select_gsm
from core.gsm.outcome import GsmOutcome
from core.gsm.outcome import describe_step as describe_gsm_step
from core.gsm.step import Step
from core.gsm.together import find_focus
from core.results.selection import (
    Decided,
    OnProgress,
    Phase,
    Progress,
    Selected,
    SelectionResult,
)
from core.rivals.method import plan_rival, select_rival
from core.rivals.outcome import RivalOutcome, RivalStep
from core.rivals.outcome import describe_step as describe_rival_step
from core.workers import Workers

Outcome = GsmOutcome | RivalOutcome
"""Both have features in order of choice, fits, notes, and explain a result."""

PHASES: dict[Phase, tuple[float, float]] = {
    "encode": (0.0, 0.05),
    "rank": (0.05, 0.5),
    "fit": (0.5, 0.8),
    "select": (0.8, 1.0),
}
"""What part of a run each phase takes, roughly, so that progress moves evenly.

Rivals have nothing to fit: selecting is all that is left after encoding.
"""

NAMED = 5
"""Columns that a note names."""

NOTHING_HELD_OUT = (
    "No rows were held out: this method would have to choose anew for every fold, which takes as "
    "many times as long. Nothing vouches for its features but the rows they were chosen from."
)


@dataclass(frozen=True)
class Choice:
    """What was chosen from a table, by which recipe it was encoded, and what held-out rows say."""

    outcome: Outcome
    recipe: Recipe
    plan: Plan | None

    @property
    def features(self) -> tuple[int, ...]:
        """The chosen features in order."""
        return self.outcome.features

    def explain(
        self, result: SelectionResult, names: Sequence[str], on_wait: OnWait = ignore
    ) -> SelectionResult:
        """The result with all that was found out; `names` are those of the features."""
        explained = self.outcome.explain(result, names, on_wait)
        if self.plan is None:
            notes = (*explained.notes, NOTHING_HELD_OUT)
            return replace(explained, suggested_k=len(self.features), notes=notes)
        supported = self.plan.suggested_k
        return replace(
            explained,
            selected=tuple(
                replace(feature, supported=feature.rank <= supported)
                for feature in explained.selected
            ),
            suggested_k=supported,
            rank_search=self.plan.scores,
            held_out=self.plan.held_out,
            equal_width_heard=self.plan.chosen.hears_plainer,
            counts_heard=self.plan.chosen.hears_counts,
            notes=(*explained.notes, *_of_plan(self.plan, result.n_rows)),
        )


def _of_plan(plan: Plan, n_rows: int) -> Iterator[str]:
    if plan.second_look:
        yield (
            "By the cuts and states with the lowest held-out loss no column tells anything, so "
            f"that the plainest cut and {plan.chosen.rank} states were taken, which mostly do."
        )
    if plan.chosen.hears_plainer:
        yield (
            "Columns cut at equal width had a say in what was chosen, beside the cuts with the "
            "lowest held-out loss, which are those reported."
        )
    if plan.chosen.hears_counts:
        yield (
            "No column was taken to add more than rows show beside each column chosen before it, "
            "whatever the states say: held-out rows lose nothing by that."
        )
    if (n_asked := plan.held_out.n_rows + plan.n_copies) < n_rows:
        yield (
            f"A sample of {n_asked:,} of the {n_rows:,} rows, drawn class by class, decided how "
            "columns are cut and how many features are kept, and is what held-out figures are of; "
            "the features were chosen by all rows."
        )
    if plan.astray:
        yield (
            "The features that all rows choose tell less on held-out rows than those that parts of "
            "the rows choose: the figures are those of this choice, and another may be better."
        )
    if plan.n_copies:
        yield (
            f"{plan.n_copies:,} of these rows seem to be copies of others: they were held out with "
            "those, so that what they repeat makes no figure surer."
        )


def choose(
    table: Table,
    k: int | None,
    method: Method,
    on_progress: OnProgress = ignore,
    names: Sequence[str] = (),
    completed: Completed | None = None,
    *,
    configuration: Configuration | None = None,
) -> Choice:
    """Choose features.

    Parameters
    ----------
    table : Table
        Fine codes, the label, and which features take part.
    k : int or None
        How many, the included ones among them; None for as many as held-out rows vouch for. iSelect
        and GlobalFS then stop by themselves.
    method : Method
        Which one, with its options.
    on_progress : callable
        Told the fraction of a run that is done, which encoding is the first part of, and what was
        just found; stops the run by raising.
    names : sequence of str
        Those of the features; without them progress does not tell which were chosen.
    completed : Completed, optional
        What an interrupted run of GSM-CPD completed; this one goes on from there and adds to it.
    configuration : Configuration, optional
        How to cut and how many states to take, when no held-out rows are to decide.

    """
    done = completed or Completed()
    teller = _teller(method, on_progress, names)
    if done.plan is None and configuration is None:
        done.plan = teller.plan(table, k)
    plan = done.plan if configuration is None else None
    chosen = configuration or (plan.chosen if plan else _given(table, method))
    recipe = table.learn(chosen.strategy, teller.wait)
    own_rule = isinstance(method, Iselect | GlobalFs)
    wanted = k
    if k is None and plan is not None and not own_rule:
        wanted = max(plan.suggested_k, len(table.included))
    if plan is not None and wanted is not None:
        teller.wait()
        teller.decided(chosen, n_features=wanted)
    outcome = teller.select(table, recipe, wanted, chosen, done)
    if plan is not None and isinstance(outcome, GsmOutcome) and isinstance(teller, _GsmTeller):
        checked = teller.check(table, outcome, plan)
        if k is None and checked.suggested_k < plan.suggested_k:
            done.steps, done.refit = [], None
            fewer = max(checked.suggested_k, len(table.included))
            outcome = teller.select(table, recipe, fewer, chosen, done)
        plan = checked
    return Choice(outcome, recipe, plan)


def _given(table: Table, method: Method) -> Configuration:
    """What to do where nothing is searched."""
    return Configuration(table.strategies[0], getattr(method, "ranks", (1,))[0])


def _teller(
    method: Method, on_progress: OnProgress, names: Sequence[str]
) -> _GsmTeller | _RivalTeller:
    if isinstance(method, GsmCpd):
        return _GsmTeller(on_progress, names, method)
    return _RivalTeller(on_progress, names, method)


class _GsmTeller:
    """Runs GSM-CPD and turns what it tells into progress."""

    def __init__(self, on_progress: OnProgress, names: Sequence[str], method: GsmCpd) -> None:
        self._on_progress, self._names, self._method = on_progress, names, method
        self._told = Progress(phase="rank", fraction=PHASES["rank"][0])
        self._last: Selected | None = None

    def plan(self, table: Table, k: int | None) -> Plan:
        with Workers(table.n_threads) as workers:
            return plan_gsm(table, k, self._method, workers, self.tell, self.decided)

    def check(self, table: Table, outcome: GsmOutcome, plan: Plan) -> Plan:
        def wait() -> None:
            self.tell("select", 1.0, None, None)

        with Workers(table.n_threads) as workers:
            return check_gsm(table, outcome.steps, plan, self._method, workers, wait)

    def select(
        self, table: Table, recipe: Recipe, k: int | None, how: Configuration, done: Completed
    ) -> GsmOutcome:
        wanted, rank = len(table.usable) if k is None else k, how.rank
        focus: tuple[int, ...] = ()
        if rank > table.n_classes and self._method.objective == "label":
            focus = find_focus(table, on_wait=lambda: self.tell("fit", 0.0, None, None))
        problem, plain = table.problem(recipe), None
        if how.hears_plainer:
            plain = table.problem(table.learn(table.strategies[0], self.wait))
        outcome = select_gsm(
            problem, wanted, self._method, rank, self.tell, done, focus, plain, how.hears_counts
        )
        return replace(outcome, notes=self._notes(focus))

    def _notes(self, focus: Sequence[int]) -> tuple[str, ...]:
        if not focus or not self._names:
            return ()
        few = [self._names[n] for n in focus[:NAMED]]
        named = ", ".join(few) + (" and others" if len(focus) > len(few) else "")
        return (
            "Some columns tell about the target only together: the states of the model are fitted "
            f"to the {len(focus)} columns that tell something, alone or in a pair ({named}).",
        )

    def wait(self) -> None:
        self.tell("fit", 0.0, None, None)

    def decided(
        self, how: Configuration, searched: float = 1.0, n_features: int | None = None
    ) -> None:
        decided = Decided(how.rank, how.hears_plainer, searched, n_features)
        self._on_progress(replace(self._told, decided=decided))

    def tell(self, phase: Phase, done: float, loglik: float | None, step: Step | None) -> None:
        selected = None
        if step is not None and self._names:
            selected = describe_gsm_step(step, self._last, self._names, self._method.objective)
            self._last = selected
        low, high = PHASES[phase]
        fraction = low + (high - low) * min(done, 1.0)
        self._told = Progress(phase=phase, fraction=fraction, within=done)
        self._on_progress(replace(self._told, loglik=loglik, selected=selected))


class _RivalTeller:
    """Runs a rival and turns what it tells into progress."""

    def __init__(self, on_progress: OnProgress, names: Sequence[str], method: Rival) -> None:
        self._on_progress, self._names, self._method = on_progress, names, method
        self._encoded = self._fraction = PHASES["encode"][1]
        self._within = 0.0
        self._n_chosen = 0

    def plan(self, table: Table, k: int | None) -> Plan | None:
        return plan_rival(table, k, self._method, self._planned)

    def select(
        self, table: Table, recipe: Recipe, k: int | None, _how: Configuration, _done: Completed
    ) -> RivalOutcome:
        return select_rival(table.problem(recipe), k, self._method, self._chose, self._tell)

    def wait(self) -> None:
        self._on_progress(Progress(phase="select", fraction=self._encoded))

    def decided(self, how: Configuration, n_features: int) -> None:
        decided = Decided(how.rank, how.hears_plainer, n_features=n_features)
        self._on_progress(Progress(phase="select", fraction=self._encoded, decided=decided))

    def _planned(self, done: float) -> None:
        low, high = PHASES["rank"]
        self._encoded = low + (high - low) * min(done, 1.0)
        self._on_progress(Progress(phase="rank", fraction=self._encoded, within=done))

    def _tell(self, done: float) -> None:
        self._within, self._fraction = done, self._encoded + (1 - self._encoded) * done
        self._report()

    def _chose(self, step: RivalStep) -> None:
        self._n_chosen += 1
        if self._names:
            selected = describe_rival_step(step, self._n_chosen, self._names)
            self._report(selected)

    def _report(self, selected: Selected | None = None) -> None:
        self._on_progress(
            Progress(
                phase="select", fraction=self._fraction, within=self._within, selected=selected
            )
        )
