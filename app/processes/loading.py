"""What a program imports stays until it ends: it is not searched for garbage.

Python would search all of it several times while it is loaded, and again whenever much is new; that
is a tenth to a fifth of the processor time of a start.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """While modules are imported."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
