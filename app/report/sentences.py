"""What a result says beside its pictures, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.report.scales import number, uncertain
from app.report.words import Document, counted, method_name, percent, share

TIE = 1e-12
SURE = 2
"""Standard errors beyond which what features tell is more than nothing."""

PARTS = {
    "evaluation": "splits for the accuracy",
    "comparison": "splits of the comparison",
    "stability": "samples for the stability",
}


def summary(document: Document) -> list[str]:
    """What to know beside the pictures."""
    return [
        *partial_sentences(document),
        *support(document),
        *comparison_sentences(document),
        *certificate_sentences(document),
        *evaluation_sentences(document),
        *data_sentences(document),
        *document["notes"],
        *evaluation_notes(document),
    ]


def partial_sentences(document: Document) -> list[str]:
    """What a job that was ended early lacks; results of earlier versions lack nothing."""
    missing = document.get("missing")
    if not missing:
        return []
    done = (f"{one['n_done']} of {one['n_asked']} {PARTS[one['part']]}" for one in missing)
    return [f"The job was ended before all was done, and this is what was: {', '.join(done)}."]


def support(document: Document) -> list[str]:
    """What held-out rows say about the number of features."""
    held_out = document.get("held_out")
    if not held_out:
        return []
    suggested, chosen = document["suggested_k"], len(document["selected"])
    if suggested == 0:
        verdict = _nothing(chosen)
    elif suggested < chosen:
        verdict = _too_many(suggested, chosen, _measured(held_out, suggested))
    elif suggested == chosen:
        verdict = (
            f"On held-out rows {'it tells' if chosen == 1 else 'they tell'} "
            f"{_measured(held_out, chosen)}; {_others(held_out, chosen, document['left_out'])}."
        )
    else:
        verdict = (
            f"Held-out rows support {counted(suggested, 'feature')}, "
            f"which would tell {_measured(held_out, suggested)}."
        )
    return [verdict, *_all_features(held_out)]


def _nothing(chosen: int) -> str:
    as_good = "guessing by the shares of the classes is as good"
    if not chosen:
        return f"On held-out rows {as_good} as any choice."
    asked = "the feature that was" if chosen == 1 else f"any of the {chosen} features that were"
    return f"Held-out rows do not support {asked} asked for: {as_good}."


def _too_many(suggested: int, chosen: int, told: str) -> str:
    first = "feature would do: it tells" if suggested == 1 else f"{suggested} would do: they tell"
    rest = chosen - suggested
    last = "the last adds" if rest == 1 else f"the last {rest} add"
    return f"The first {first} {told} on held-out rows, and {last} nothing clear."


def _others(held_out: Document, chosen: int, left_out: Sequence[Document]) -> str:
    """What other numbers of features tell; a difference that is clear need not be a hundredth."""
    if held_out["information"][chosen] < SURE * held_out["standard_error"][chosen]:
        return f"that is within {SURE} standard errors of nothing"
    shares = [percent(share(told, held_out)) for told in held_out["information"]]
    enough = shares.index(shares[chosen])
    if enough in (0, chosen):
        return "with fewer features it is less" + (", with more not clearly more" * bool(left_out))
    first = "the first alone tells" if enough == 1 else f"the first {enough} tell"
    return f"{first} nearly as much, and more features tell not clearly more"


def _measured(held_out: Document, k: int) -> str:
    told, error = held_out["information"][k], held_out["standard_error"][k]
    return f"{uncertain(told, error)} nats ({percent(share(told, held_out))})"


def _all_features(held_out: Document) -> list[str]:
    every, error = held_out["all_features"], held_out["all_features_se"]
    if every is None:
        return []
    told = "nothing" if every <= 0 else f"{uncertain(every, error or 0.0)} nats"
    return [f"All features together tell {told} on held-out rows."]


def _best_pair(comparison: Mapping[str, Any]) -> str:
    """Whether the best method is clearly better than the next one."""
    ranked = sorted(
        (m for m in comparison["methods"] if m["rank"] is not None), key=lambda m: m["rank"]
    )
    if len(ranked) < 2:
        return ""
    first, second = ranked[0]["label"], ranked[1]["label"]
    pair = next(
        (p for p in comparison["pairs"] if {p["better"], p["worse"]} == {first, second}), None
    )
    if pair is None:
        return ""
    if pair["p_adjusted"] is None:
        is_tie = abs(pair["difference"]) < TIE
        how = "do not differ on any split" if is_tie else "differ by the same amount on every split"
        return f"{method_name(first)} and {method_name(second)} {how}."
    verdict = "clearly better than" if pair["p_adjusted"] < 0.05 else "not clearly better than"
    names = f"{method_name(first)} is {verdict} {method_name(second)}"
    return f"{names} (p = {pair['p_adjusted']:.2g}, adjusted)."


def comparison_sentences(document: Document) -> list[str]:
    """Who is best, how clearly, and between what; and who failed."""
    comparison = document.get("comparison")
    if not comparison:
        return []
    failed = [m for m in comparison["methods"] if m["error"]]
    sentences = [f"{method_name(m['label'])} failed: {m['error']['message']}" for m in failed]
    best = min((m for m in comparison["methods"] if m["rank"] == 1), key=_label, default=None)
    found = [_best_pair(comparison), _beside(best, comparison) if best else ""]
    return [*filter(None, found), *sentences, *comparison["notes"]]


def _label(method: Mapping[str, Any]) -> str:
    label: str = method["label"]
    return label


def _beside(best: Mapping[str, Any], comparison: Mapping[str, Any]) -> str:
    """The best method between what needs no choice and what needs no features."""
    whole, none = comparison["all_features"]["accuracy"], comparison["baseline"]["accuracy"]
    return (
        f"By a nearest neighbour {method_name(best['label'])} has an accuracy of "
        f"{best['accuracy']:.3f} (mean over K), all features {whole:.3f}, and the most frequent "
        f"class {none:.3f}."
    )


def certificate_sentences(document: Document) -> list[str]:
    """Led by the bound that speaks about the choice; H(Y) speaks about the label."""
    certificate = document["certificate"]
    if certificate is None or not document["selected"]:
        return []
    label, latent, target = certificate["label"], certificate["latent"], document["target"]
    size = counted(len(document["selected"]), "feature")
    if label.get("bounded_by") == "entropy":
        return [
            _bound(size, "the latent state", latent),
            f"Under that model it tells {_floor(label['ratio'])} of all there is to know about "
            f"{target}, which says how predictable {target} is, not how good the choice.",
        ]
    return [
        _bound(size, target, label),
        f"By what it tells about the latent state, it reaches at least {_floor(latent['ratio'])}.",
    ]


def _bound(size: str, about: str, bound: Document) -> str:
    return (
        f"Under the fitted model, on the rows it was fitted to, no choice of {size} can tell more "
        f"than {number(bound['upper_bound'])} nats about {about}: this one reaches at least "
        f"{_floor(bound['ratio'])} of the best possible."
    )


def _floor(ratio: float | None) -> str:
    """Rounded down: it is a guarantee."""
    return "0 %" if ratio is None else f"{int(ratio * 1000) / 10:g} %"


def data_sentences(document: Document) -> list[str]:
    """How much there was to learn from."""
    candidates = len(document["selected"]) + len(document["left_out"])
    facts = [counted(document["n_rows"], "row"), counted(candidates, "candidate")]
    if document["rank"]:
        facts.append(counted(document["rank"], "latent state"))
    if document["dropped"]:
        facts.append(f"{counted(len(document['dropped']), 'column')} set aside")
    return [f"{', '.join(facts)}.", *_ranges(document)]


def _ranges(document: Document) -> list[str]:
    """A number to be predicted is told by the range it lies in."""
    target = document["target"]
    cut = [c for c in document["encoding"] if c["name"] == target and c["kind"] == "continuous"]
    return [
        f"{target} is a number: told is in which of {len(column['levels'])} ranges it lies."
        for column in cut
    ]


def evaluation_sentences(document: Document) -> list[str]:
    """What a nearest neighbour makes of the choice, of all features, and of none."""
    evaluation = document["evaluation"]
    if not evaluation or not evaluation["curves"]:
        return []
    curve, none = evaluation["curves"][0], evaluation["baseline"]["accuracy"]
    chosen = [(f"the {counted(len(curve['mean']), 'feature')} chosen", *curve["mean"][-1:])]
    used = [*(chosen if curve["mean"] else ()), ("all features", curve["all_features"])]
    shares = " and ".join(f"{100 * share:.1f} % with {what}" for what, share in used)
    return [
        f"Of held-out rows a nearest neighbour has right {shares}; "
        f"the most frequent class is right on {100 * none:.1f} %."
    ]


def evaluation_notes(document: Document) -> list[str]:
    """What limits the meaning of the scores."""
    return list((document["evaluation"] or {}).get("notes", ()))
