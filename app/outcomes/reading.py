"""How a service that only reads is called, whoever asks: a request, or a worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from app.db.base import Reader

P = ParamSpec("P")
T = TypeVar("T")


class Read(Protocol):
    """Calls a service with a connection and the tenant, for which whoever made this stands."""

    def __call__(
        self, call: Callable[Concatenate[Reader, str, P], T], *args: P.args, **kw: P.kwargs
    ) -> T:
        """What the service answers."""
