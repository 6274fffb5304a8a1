"""Options of the command line as those of the library."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from core.config import (
    Bootstrap,
    Columns,
    Compare,
    Discretize,
    Evaluate,
    SelectionConfig,
    method_from_dict,
)
from core.errors import InvalidConfig


def configure(
    *,
    k: str,
    method: str,
    include: Sequence[str],
    exclude: Sequence[str],
    bins: int,
    strategy: str,
    missing: str,
    target_bins: int,
    evaluate: bool,
    **options: Any,
) -> SelectionConfig:
    """Make options of the library from those of the command line."""
    return SelectionConfig(
        _count(k),
        method=method_from_dict(_method(method)),
        columns=Columns(include=tuple(include), exclude=tuple(exclude)),
        discretize=Discretize(
            bins=bins,
            strategy=strategy,  # type: ignore[arg-type]
            missing=missing,  # type: ignore[arg-type]
            target_bins=target_bins,
        ),
        evaluate=Evaluate() if evaluate else None,
        **options,
    )


def _count(k: str) -> int | Literal["auto"]:
    if k == "auto":
        return "auto"
    try:
        return int(k)
    except ValueError:
        raise InvalidConfig(f"k must be a whole number or auto, not {k!r}", "k") from None


def _method(text: str) -> Mapping[str, Any]:
    if not text.startswith("{"):
        return {"name": text}
    document: dict[str, Any] = _parse(text, "method")
    return document


def _parse(text: str, field: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidConfig(f"{field} is not valid JSON: {error}", field) from None


def configure_comparison(methods: str, n_splits: int) -> Compare | None:
    """Make a comparison of `mrmr,jmim`, or of a JSON list of methods with parameters."""
    if not methods:
        return None
    texts: list[Any] = methods.split(",")
    if methods.startswith("["):
        texts = _parse(methods, "compare")
    documents = [{"name": text} if isinstance(text, str) else text for text in texts]
    return Compare(methods=tuple(map(method_from_dict, documents)), n_splits=n_splits)


def configure_samples(n_samples: int) -> Bootstrap | None:
    """Ask for so many halves of the rows; none of 0."""
    return Bootstrap(n_samples=n_samples) if n_samples else None
