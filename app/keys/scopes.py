"""What keys allow."""

from __future__ import annotations

from enum import StrEnum


class Scope(StrEnum):
    """Read or write what is the tenant's, or see to its keys and the figures of all.

    None includes another.
    """

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"
