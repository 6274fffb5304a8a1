"""The calls for keys with the scope `admin`: who changed what, and the keys themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pith_client.asking import Asking
from pith_client.models import Actor, Record
from pith_client.steps import Call, Flow


@dataclass(frozen=True, kw_only=True)
class AuditLine(Record):
    """One change: from where, by which request, what, and of which row."""

    id: str
    created_at: datetime
    address: str | None
    request_id: str | None
    action: str
    object_id: str
    details: dict[str, Any]

    @property
    def actor(self) -> Actor:
        """Who made it."""
        return Actor.read(self.document["actor"])


@dataclass(frozen=True, kw_only=True)
class Key(Record):
    """A key of the tenant; `key` itself only where it was made just now."""

    id: str
    name: str
    scopes: list[str]
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None
    key: str | None


class AdminCalls(Asking):
    """Look who did what; make, list and revoke keys."""

    def audit(
        self,
        *,
        actor: str | None = None,
        object_id: str | None = None,
        action: str | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        page_size: int | None = None,
    ) -> Flow[AuditLine]:
        """Every change of what is the tenant's, newest first; `actor` is a key's id or a subject.

        Times have a zone.
        """
        return self._pages(
            "/v1/audit",
            AuditLine.read,
            actor=actor,
            object_id=object_id,
            action=action,
            created_after=created_after and created_after.isoformat(),
            created_before=created_before and created_before.isoformat(),
            page_size=page_size,
        )

    def keys(self) -> Call[list[Key]]:
        """All keys of the tenant, with those that are over."""
        answer = yield from self._ask("GET", "/v1/keys")
        return [Key.read(item) for item in answer.json()["items"]]

    def create_key(
        self, name: str = "", *, scopes: Sequence[str] = ("read", "write"), days: int = 365
    ) -> Call[Key]:
        """Make a key; keep its `key`, which is not shown again."""
        body = {"name": name, "scopes": list(scopes), "days": days}
        answer = yield from self._ask("POST", "/v1/keys", json=body, is_repeatable=False)
        return Key.read(answer.json())

    def revoke_key(self, key_id: str) -> Call[None]:
        """End a key; it stops working within a second."""
        yield from self._ask("DELETE", f"/v1/keys/{key_id}")
