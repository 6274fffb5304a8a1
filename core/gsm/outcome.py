"""Everything the method found out, and how a result says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from core.arrays import Floats
from core.callbacks import OnWait, ignore, listening
from core.config import GsmCpd, Objective
from core.cpd.model import CpdFit
from core.gsm.alike import find_alike
from core.gsm.chance import Chance
from core.gsm.copies import Copies
from core.gsm.objective import Gains
from core.gsm.step import Step
from core.results.selection import Certificate, LeftOut, ModelFit, Selected, SelectionResult

REDUNDANT_SHARE = 0.5
"""A feature is redundant once the chosen ones have taken this share of its information."""


@dataclass(frozen=True)
class GsmOutcome:
    """Everything the method found out. `left` holds the final gains of what was not chosen."""

    method: GsmCpd
    steps: list[Step]
    fits: list[CpdFit]
    rank: int
    certificate: Certificate | None
    left: Gains
    first_gains: Gains
    overlaps: Floats
    chance: Chance
    copies: Copies
    n_evaluations: int
    n_distinct_rows: int | None
    notes: tuple[str, ...] = ()

    @property
    def features(self) -> tuple[int, ...]:
        """The chosen features in order."""
        return tuple(step.feature for step in self.steps)

    def explain(
        self, result: SelectionResult, names: Sequence[str], on_wait: OnWait = ignore
    ) -> SelectionResult:
        """The result with all that was found out; `names` are those of the features."""
        variables = (*names, result.target)
        return replace(
            result,
            selected=self._selected(names),
            left_out=_left_out(self, names, self.method.objective, on_wait),
            n_distinct_rows=self.n_distinct_rows,
            certificate=self.certificate,
            rank=self.rank,
            models=tuple(_model_fit(fit, variables, self.method.family) for fit in self.fits),
            n_evaluations=self.n_evaluations,
            alike=find_alike(self.fits, self.features, self._telling(), names),
            notes=(*result.notes, *self.notes),
        )

    def _telling(self) -> list[int]:
        """What was not chosen and tells about the label by itself, the most telling first."""
        features, told = self.first_gains.features, self.first_gains.label
        telling = told > self.chance.significant["label"][features]
        order = features[np.lexsort((features, -told))]
        kept = set(features[telling].tolist()) - set(self.features)
        return [feature for feature in order.tolist() if feature in kept]

    def _selected(self, names: Sequence[str]) -> tuple[Selected, ...]:
        selected: list[Selected] = []
        for step in self.steps:
            before = selected[-1] if selected else None
            selected.append(describe_step(step, before, names, self.method.objective))
        return tuple(selected)


def describe_step(
    step: Step, before: Selected | None, names: Sequence[str], objective: Objective
) -> Selected:
    """One choice of the method; gains are what the traces rose by, which never fall."""
    known = step.information
    mi_latent, mi_label = max(known.latent, 0.0), max(known.label, 0.0)
    if before is not None:
        mi_latent = max(mi_latent, before.mi_latent or 0.0)
        mi_label = max(mi_label, before.mi_label or 0.0)
    gain_latent = mi_latent - (before.mi_latent or 0.0 if before else 0.0)
    gain_label = mi_label - (before.mi_label or 0.0 if before else 0.0)
    return Selected(
        rank=1 if before is None else before.rank + 1,
        name=names[step.feature],
        gain=gain_label if objective == "label" else gain_latent,
        decided_by=step.decided_by,
        exact=step.exact,
        gain_latent=gain_latent,
        gain_label=gain_label,
        mi_latent=mi_latent,
        mi_latent_se=known.latent_se,
        mi_label=mi_label,
        mi_label_se=known.label_se,
        runner_up=None if step.runner_up is None else names[step.runner_up],
        margin=step.margin,
    )


def _model_fit(fit: CpdFit, variables: tuple[str, ...], family: str) -> ModelFit:
    return ModelFit(
        variables=variables,
        weights=fit.weights,
        factors=tuple(fit.factors),
        loglik=tuple(fit.loglik.tolist()),
        n_iter=fit.n_iter,
        converged=fit.converged,
        rank=fit.rank,
        family=family,
    )


def _left_out(
    outcome: GsmOutcome, names: Sequence[str], objective: Objective, on_wait: OnWait
) -> tuple[LeftOut, ...]:
    """Everyone not chosen, in the order of what they could still add."""
    before = dict(zip(outcome.first_gains.features, outcome.first_gains.latent, strict=True))
    floor = outcome.chance.significant["latent"]
    gains = outcome.left.label if objective == "label" else outcome.left.latent
    if not outcome.features:
        return _told_nothing(outcome, gains, names)
    left = outcome.left
    alike = np.array(outcome.features)[outcome.overlaps[left.features].argmax(axis=1)]
    unknown = outcome.copies.caps_by(left.features, alike, left.latent, on_wait)
    gains = np.minimum(gains, unknown)
    rest = []
    for i in listening(np.lexsort((outcome.left.features, -gains)), on_wait):
        feature = int(outcome.left.features[i])
        own, still = float(before[feature]), float(min(outcome.left.latent[i], unknown[i]))
        taken = _is_taken(own, still, float(floor[feature]))
        rest.append(
            LeftOut(
                name=names[feature],
                gain=float(gains[i]),
                reason=_reason(own, float(floor[feature]), taken=taken),
                redundant_with=names[alike[i]] if taken else None,
            )
        )
    return tuple(rest)


def _told_nothing(outcome: GsmOutcome, gains: Floats, names: Sequence[str]) -> tuple[LeftOut, ...]:
    """Everyone, where nothing was chosen: no rows that were held out vouch for any of them."""
    order = np.lexsort((outcome.left.features, -gains))
    return tuple(
        LeftOut(name=names[outcome.left.features[i]], gain=float(gains[i]), reason="uninformative")
        for i in order
    )


def _reason(
    own: float, floor: float, *, taken: bool
) -> Literal["redundant", "uninformative", "outranked"]:
    if taken:
        return "redundant"
    return "uninformative" if own <= floor else "outranked"


def _is_taken(own: float, still: float, floor: float) -> bool:
    """Whether the chosen features have most of a feature's information."""
    return own > floor and own - still >= REDUNDANT_SHARE * own
