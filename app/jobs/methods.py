"""The methods of `core` as input models, made from its dataclasses so that they cannot drift."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from itertools import islice
from typing import Annotated, Any, Literal, Union, get_type_hints

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
    model_validator,
)

from core.config import METHODS, Method

# What one job may ask of a machine that others share; `core` itself has no upper limits.
LIMITS: Mapping[str, tuple[float, float]] = {
    "ranks": (1, 500),
    "n_folds": (2, 20),
    "n_models": (1, 50),
    "n_init": (1, 100),
    "max_iter": (1, 10_000),
    "tol": (0, 1),
    "smoothing": (0, 1000),
    "n_configurations": (16, 1_048_576),
    "alpha": (0.01, 100),
    "sigma": (1e-6, 1e6),
    "max_patterns": (2, 10_000),
    "confidence": (0.5, 0.999999),
    "max_subsets": (1, 100_000_000),
}
ANY_NUMBER = (0, 1_000_000_000)


# Of mistakes in one place no more are reported than a caller reads; each costs time and memory.
MAX_MISTAKES = 10


class Strict(BaseModel):
    """Unknown fields are errors, and so are NaN and infinity."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _forget_most_unknown(cls, given: Any) -> Any:
        if not isinstance(given, Mapping) or len(given) <= len(cls.model_fields):
            return given
        unknown = [name for name in given if name not in cls.model_fields]
        forgotten = set(unknown[MAX_MISTAKES:])
        return {name: value for name, value in given.items() if name not in forgotten}


def _in_parts(given: Any, check: ValidatorFunctionWrapHandler) -> Any:
    """Check some items after the other, up to the first mistakes; there may be 100,000."""
    if not isinstance(given, dict):
        return check(given)
    checked: dict[str, Any] = {}
    items = iter(given.items())
    while part := dict(islice(items, MAX_MISTAKES)):
        checked |= check(part)
    return checked


InParts = WrapValidator(_in_parts)


def _strict(hint: Any, name: str) -> Any:
    low, high = LIMITS.get(name, ANY_NUMBER)
    if hint is bool:
        return StrictBool
    if hint is int:
        return Annotated[StrictInt, Field(ge=int(low), le=int(high))]
    if hint is float:
        return Annotated[float, Field(strict=True, ge=low, le=high)]
    if hint == tuple[int, ...]:
        item: Any = _strict(int, name)
        return Annotated[list[item], Field(min_length=1, max_length=20)]
    return hint


def _model_of(method: type[Method]) -> type[BaseModel]:
    hints = get_type_hints(method)
    parameters: dict[str, Any] = {
        f.name: (_strict(hints[f.name], f.name), _default(f.default)) for f in fields(method)
    }
    tag: Any = Literal[method.name]
    title = f"{method.__name__}Method"
    model: type[BaseModel] = create_model(
        title, __base__=Strict, __doc__=method.__doc__, name=(tag, ...), **parameters
    )
    return model


def _default(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


_BY_NAME: dict[str, type[BaseModel]] = {method.name: _model_of(method) for method in METHODS}
METHOD_MODELS: Any = Union[tuple(_BY_NAME.values())]  # noqa: UP007  built from a list


def describe_methods() -> list[dict[str, Any]]:
    """Every method: its name, one sentence, and the JSON schema of its parameters with limits."""
    return [
        {
            "name": method.name,
            "summary": (method.__doc__ or "").split("\n")[0],
            "fits_model": method.name == "gsm_cpd",
            "parameters": _BY_NAME[method.name].model_json_schema(),
        }
        for method in METHODS
    ]
