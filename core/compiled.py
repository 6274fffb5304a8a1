"""How kernels are compiled: no more of them than is called, since a first start waits for it.

Python calls kernels, which are kept on disk; what kernels call is compiled with them, and is plain
Python elsewhere. Where they divide by zero they are as silent as numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from numba import njit
from numba.extending import register_jitable

Function = TypeVar("Function", bound=Callable[..., Any])


class Compiler(Protocol):
    """What stands above a function that is compiled."""

    def __call__(self, function: Function, /) -> Function:
        """The same function, faster."""


INNER: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True}
OUTER: dict[str, Any] = {**INNER, "cache": True, "nogil": True}

kernel: Compiler = njit(**OUTER)
inner: Compiler = register_jitable(**INNER)
