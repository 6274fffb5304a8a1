"""Who does something, and from where: what a row and a line of the audit remember of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class ActorKind(StrEnum):
    """How somebody is known."""

    KEY = "key"
    SUBJECT = "subject"  # of an OIDC issuer
    LOCAL = "local"  # without a key, on this machine
    OPERATOR = "operator"  # at the command line
    SERVICE = "service"  # nobody asked for it: retention


@dataclass(frozen=True)
class Actor:
    """A key by its id and name, a subject by its issuer; the others are known by their kind."""

    kind: ActorKind
    id: str = ""
    name: str = ""
    issuer: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As it is kept and shown."""
        return {**asdict(self), "kind": str(self.kind)}


# Under which a session keeps it.
ORIGIN = "pith.origin"
LOCAL = Actor(ActorKind.LOCAL)
OPERATOR = Actor(ActorKind.OPERATOR)
SERVICE = Actor(ActorKind.SERVICE)


@dataclass(frozen=True)
class Origin:
    """Where a change comes from: of a request also its address and its id."""

    actor: Actor = SERVICE
    address: str | None = None
    request_id: str | None = None


def origin_of(info: Mapping[Any, Any]) -> Origin:
    """On whose behalf a session acts, as its `info` tells; without a word, the service's own."""
    origin: Origin = info.get(ORIGIN, Origin())
    return origin
