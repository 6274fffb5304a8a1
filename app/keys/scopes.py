"""What keys allow."""

from __future__ import annotations

from enum import StrEnum


class Scope(StrEnum):
    """Read or write what is the tenant's, or see figures of all tenants; none includes another."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"
