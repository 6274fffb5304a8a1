"""What the methods found out, put into the words of `core.results`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from core.config import GsmCpd, Objective, SelectionConfig
from core.cpd.model import CpdFit
from core.experiments import Evaluation
from core.gsm import GsmOutcome
from core.preparation import Prepared
from core.results import (
    LeftOut,
    ModelFit,
    Selected,
    SelectionResult,
    describe_config,
)
from core.rivals import RivalSelection, RivalStep
from core.selection.greedy import Step

REDUNDANT_SHARE = 0.5
"""A feature is redundant once the chosen ones have taken this share of its information."""


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


def describe_rival_step(step: RivalStep, rank: int, names: Sequence[str]) -> Selected:
    """One choice of a rival: a score, and no information."""
    return Selected(
        rank=rank,
        name=names[step.feature],
        gain=step.score,
        decided_by="score",
        runner_up=None if step.runner_up is None else names[step.runner_up],
        margin=step.margin,
    )


def gsm_result(
    outcome: GsmOutcome,
    prepared: Prepared,
    target: str,
    config: SelectionConfig,
    evaluation: Evaluation | None,
) -> SelectionResult:
    """The result of GSM-CPD."""
    assert isinstance(config.method, GsmCpd)
    selected: list[Selected] = []
    for step in outcome.steps:
        before = selected[-1] if selected else None
        selected.append(describe_step(step, before, prepared.names, config.method.objective))
    variables = (*prepared.names, target)
    return SelectionResult(
        target=target,
        selected=tuple(selected),
        left_out=_left_out(outcome, prepared.names, config.method.objective),
        dropped=prepared.dropped,
        suggested_k=outcome.suggested_k,
        n_rows=prepared.problem.n_rows,
        n_distinct_rows=outcome.n_distinct_rows,
        encoding=prepared.encoding,
        config=describe_config(config),
        certificate=outcome.certificate,
        rank_search=outcome.rank_search,
        rank=outcome.rank,
        models=tuple(_model_fit(fit, variables, config.method.family) for fit in outcome.fits),
        evaluation=evaluation,
        n_evaluations=outcome.n_evaluations,
        notes=prepared.notes,
    )


def rival_result(
    chosen: RivalSelection,
    prepared: Prepared,
    target: str,
    config: SelectionConfig,
    evaluation: Evaluation | None,
) -> SelectionResult:
    """The result of a rival."""
    names = prepared.names
    selected = tuple(
        describe_rival_step(step, i, names) for i, step in enumerate(chosen.steps, start=1)
    )
    left_out = (
        LeftOut(name=names[feature], gain=score, reason="outranked")
        for feature, score in sorted(chosen.scores_left.items())
    )
    return SelectionResult(
        target=target,
        selected=selected,
        left_out=tuple(left_out),
        dropped=prepared.dropped,
        suggested_k=chosen.stopped_by_itself_after or len(selected),
        n_rows=prepared.problem.n_rows,
        n_distinct_rows=None,
        encoding=prepared.encoding,
        config=describe_config(config),
        evaluation=evaluation,
        notes=(*prepared.notes, *chosen.notes),
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
    outcome: GsmOutcome, names: Sequence[str], objective: Objective
) -> tuple[LeftOut, ...]:
    """Everyone not chosen, in the order of what they could still add."""
    before = dict(zip(outcome.first_gains.features, outcome.first_gains.latent, strict=True))
    floor = outcome.chance.latent
    gains = outcome.left.label if objective == "label" else outcome.left.latent
    alike = [outcome.features[outcome.overlaps[f].argmax()] for f in outcome.left.features]
    asked = zip(outcome.left.features.tolist(), alike, outcome.left.latent, strict=True)
    unknown = np.array([outcome.doubles.unknown(f, [c], gain) for f, c, gain in asked])
    gains = np.minimum(gains, unknown)
    rest = []
    for i in np.lexsort((outcome.left.features, -gains)):
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


def _reason(
    own: float, floor: float, *, taken: bool
) -> Literal["redundant", "uninformative", "outranked"]:
    if taken:
        return "redundant"
    return "uninformative" if own <= floor else "outranked"


def _is_taken(own: float, still: float, floor: float) -> bool:
    """Whether the chosen features have most of a feature's information."""
    return own > floor and own - still >= REDUNDANT_SHARE * own
