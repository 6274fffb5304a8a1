"""Which columns a selection speaks of: all that can be refused before a value is read."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from core.config import Columns, SelectionConfig
from core.errors import InvalidConfig, InvalidData


def check_names(names: Collection[str], target: str, config: SelectionConfig) -> None:
    """Refuse what no table with columns of these names can be asked for."""
    known, options = set(names), config.columns
    _require_known([target], known, "target")
    _require_known(options.include, known, "columns.include")
    _require_known(options.exclude, known, "columns.exclude")
    _require_known(options.candidates or (), known, "columns.candidates")
    weight = [config.weight_column] if config.weight_column else []
    _require_known(weight, known, "weight_column")
    _require_known(config.discretize.kinds, known, "discretize.kinds")
    if target in weight:
        raise InvalidConfig(f"weight_column names the target {target!r}", "weight_column")
    _require_features(options, {target, *weight})
    _require_choice(known - {target, *weight}, config)


def check_k(config: SelectionConfig, n_usable: int) -> None:
    """Refuse a number of features that cannot be chosen from so many."""
    if config.k == "auto":
        return
    if config.k > n_usable:
        raise InvalidConfig(f"k is {config.k}, but only {n_usable} features can be chosen", "k")
    if config.k < len(config.columns.include):
        raise InvalidConfig(
            f"k is {config.k}, below the {len(config.columns.include)} included columns", "k"
        )


def _require_known(names: Iterable[str], known: Collection[str], field: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name not in known:
            raise InvalidConfig(f"{field} names a column that is not there: {name!r}", field)
        if name in seen:
            raise InvalidConfig(f"{field} names {name!r} twice", field)
        seen.add(name)


def _require_features(options: Columns, taken: Collection[str]) -> None:
    for field in ("include", "exclude", "candidates"):
        for name in getattr(options, field) or ():
            if name in taken:
                sentence = f"names {name!r}, which is no feature here"
                raise InvalidConfig(f"columns.{field} {sentence}", f"columns.{field}")
    both = set(options.include) & set(options.exclude)
    if both:
        sentence = f"column {min(both)!r} is both included and excluded"
        raise InvalidConfig(sentence, "columns.exclude")


def _require_choice(features: set[str], config: SelectionConfig) -> None:
    options = config.columns
    searched = features - set(options.exclude)
    if options.candidates is not None:
        searched &= set(options.candidates)
    usable = searched | set(options.include)
    if not usable:
        raise InvalidData("no usable feature is left: all are excluded", "columns")
    check_k(config, len(usable))
