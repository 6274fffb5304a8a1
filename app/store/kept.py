"""Where a process leaves what it fetched of an object. Loads nothing of any store."""

from __future__ import annotations

from threading import Lock


class Kept:
    """As much of one object as was fetched here, for its next readers, who may be threads.

    It is gone with the last reference to this, and with the process; one that is pickled arrives
    empty.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.copy: object = None

    def __reduce__(self) -> tuple[type[Kept], tuple[()]]:
        """Without what lies here."""
        return Kept, ()
