"""Which versions compute: what a result is recorded with, and what the service says of itself."""

from __future__ import annotations

import platform
from functools import lru_cache
from importlib.metadata import version

# The service and the libraries whose arithmetic it relies on.
COMPUTING = ("pith", "numpy", "scipy", "numba")


@lru_cache
def versions() -> dict[str, str]:
    """Of all that a result depends on; from metadata, since loading numba takes a second."""
    return {name: version(name) for name in COMPUTING} | {"python": platform.python_version()}
