"""The environment of processes that read what strangers wrote: no address, password or key."""

from __future__ import annotations

import os

# Networks with certificates of their own name them by the last two.
INHERITED = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "POLARS_MAX_THREADS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)


def bare_environment() -> dict[str, str]:
    """All that such a process finds in its environment."""
    return {name: os.environ[name] for name in INHERITED if name in os.environ}
