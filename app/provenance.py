"""Which versions compute: what a result is recorded with, and what the service says of itself."""

from __future__ import annotations

import hashlib
import platform
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

# The service and the libraries whose arithmetic it relies on.
COMPUTING = ("pith", "numpy", "scipy", "numba")


@lru_cache
def versions() -> dict[str, str]:
    """Of all that a result depends on; from metadata, since loading numba takes a second."""
    return {name: version(name) for name in COMPUTING} | {"python": platform.python_version()}


def sources() -> Path:
    """Where the engine's lie."""
    spec = find_spec("core")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@lru_cache
def engine_key() -> str:
    """What computes, as one word: the sources of `core` and the libraries, not our own version.

    Two builds of one version may differ, and two versions may compute alike.
    """
    libraries = {name: known for name, known in versions().items() if name != "pith"}
    digest = hashlib.sha256(repr(sorted(libraries.items())).encode())
    root = sources()
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return digest.hexdigest()
