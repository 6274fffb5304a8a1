"""Which columns a selection speaks of: all that can be refused before a value is read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from rapidfuzz import fuzz, process

from core.config import Columns, GsmCpd, Method, SelectionConfig
from core.errors import InvalidConfig, InvalidData

# Comparing takes time with both lengths; names of columns are seldom half as long.
MAX_COMPARED = 256
SIMILAR_PERCENT = 60
PART_MARK = " · "


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


def part_name(column: str, part: str) -> str:
    """How a number that is made of a column is called."""
    return f"{column}{PART_MARK}{part}"


def exclude_unneeded(
    config: SelectionConfig, names: Iterable[str], target: str, beside: Iterable[Method] = ()
) -> SelectionConfig:
    """The options with all columns excluded that nobody needs.

    A rival needs those that it may choose. The model of GSM-CPD is of all columns, which are then
    needed also by methods `beside` it: they are tried on the same table. A time is needed if any
    option names a part of it.
    """
    options = config.columns
    if options.candidates is None or isinstance(config.method, GsmCpd):
        return config
    if any(isinstance(method, GsmCpd) for method in beside):
        return config
    features = {*options.include, *options.candidates}
    named = {*features, *options.exclude, *config.discretize.kinds}
    sources = {name.rpartition(PART_MARK)[0] for name in named}
    needed = {target, config.weight_column, *features, *sources, *options.exclude}
    unneeded = tuple(name for name in names if name not in needed)
    return replace(config, columns=replace(options, exclude=(*options.exclude, *unneeded)))


def unfold_choice(config: SelectionConfig, parts: Mapping[str, Sequence[str]]) -> SelectionConfig:
    """The options with the names of parts for those of the columns that they are made of.

    A column is left out or searched with all its parts, and included by the first of them.
    """
    options, kinds = config.columns, config.discretize.kinds
    searched = options.candidates
    columns = replace(
        options,
        include=tuple(parts[name][0] if name in parts else name for name in options.include),
        exclude=_unfolded(options.exclude, parts),
        candidates=None if searched is None else _unfolded(searched, parts),
    )
    unfolded = {part: kind for name, kind in kinds.items() for part in parts.get(name, [name])}
    return replace(config, columns=columns, discretize=replace(config.discretize, kinds=unfolded))


def _unfolded(names: Sequence[str], parts: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    return tuple(part for name in names for part in parts.get(name, [name]))


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


def nearest(name: str, known: Collection[str]) -> str:
    """What a sentence about an unknown name ends with: the nearest of those that are known."""
    found = None
    if len(name) <= MAX_COMPARED:
        found = process.extractOne(name, known, scorer=fuzz.ratio, score_cutoff=SIMILAR_PERCENT)
    return f"; the nearest name is {found[0]!r}" if found else ""


def _require_known(names: Iterable[str], known: Collection[str], field: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name not in known:
            sentence = f"{field} names a column that is not there: {name!r}{nearest(name, known)}"
            raise InvalidConfig(sentence, field)
        if name in seen:
            raise InvalidConfig(f"{field} names {name!r} twice", field)
        seen.add(name)


def _require_features(options: Columns, taken: Collection[str]) -> None:
    for field, what in (("include", "chosen"), ("exclude", "left out"), ("candidates", "searched")):
        for name in getattr(options, field) or ():
            if name in taken:
                sentence = f"column {name!r} is the target or the weight and cannot be {what}"
                raise InvalidConfig(sentence, f"columns.{field}")
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
