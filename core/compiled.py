"""How kernels are compiled: no more of them than is called, since a first start waits for it.

Python calls kernels, which are kept on disk; what kernels call is compiled with them, and is plain
Python elsewhere. Where they divide by zero they are as silent as numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

from numba import njit
from numba.extending import register_jitable

from core.kernel_cache import SharedCache
from core.linked import LinkedCompiler

Function = TypeVar("Function", bound=Callable[..., Any])


class Compiler(Protocol):
    """What stands above a function that is compiled."""

    def __call__(self, function: Function, /) -> Function:
        """The same function, faster."""


INNER: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True}


def kept(**options: Any) -> Compiler:
    """A kernel with further options of numba."""

    def compiler(function: Function, /) -> Function:
        compiled: Any = njit(**INNER, nogil=True, **options)(function)
        compiled._cache = SharedCache(function)  # numba offers no choice
        return cast("Function", compiled)

    return compiler


kernel: Compiler = kept()
inner: Compiler = register_jitable(**INNER, pipeline_class=LinkedCompiler)
