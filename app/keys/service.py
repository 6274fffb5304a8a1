"""What operators do with keys, and what a key proves. Every transaction is visible here."""

from __future__ import annotations

import hmac
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.orm import Session

from app.actors import LOCAL, Actor, ActorKind
from app.audit.lines import record
from app.audit.models import Action
from app.db.base import AnyRow, Reader
from app.db.clock import read_clock
from app.errors import Invalid, NotFound, Unauthorized
from app.keys import repository
from app.keys.models import ApiKey
from app.keys.scopes import Scope
from app.keys.token import digest_of, id_of, new_token

DEFAULT_TENANT = "default"
# It names a folder of the store.
TENANT = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
MAX_DAYS = 3650
MAX_NAME_LENGTH = 255
USE_NOTED = timedelta(minutes=1)


@dataclass(frozen=True)
class Grant:
    """Who is asking and what is allowed; without a key on loopback, everything."""

    tenant: str = DEFAULT_TENANT
    scopes: Collection[Scope] = frozenset(Scope)
    actor: Actor = LOCAL


@dataclass(frozen=True)
class Verified:
    """A key that is good at this moment; `is_noted` when its use was written lately."""

    key_id: str
    grant: Grant
    is_noted: bool


def create_key(
    session: Session, secret: bytes, tenant: str, scopes: Collection[Scope], days: int, name: str
) -> tuple[str, AnyRow]:
    """Make a key; the token is in this answer and nowhere else."""
    _check(tenant, scopes, days, name)
    token = new_token()
    key = ApiKey(
        id=id_of(token),
        tenant=tenant,
        name=name,
        digest=digest_of(token, secret),
        scopes=sorted(scopes),
    )
    with session.begin():
        key.created_at = read_clock(session)
        key.expires_at = key.created_at + timedelta(days=days)
        row = repository.add_key(session, key)
        record(session, tenant, Action.KEY_CREATED, row.id, scopes=row.scopes)
        return token, row


def _check(tenant: str, scopes: Collection[Scope], days: int, name: str) -> None:
    if not TENANT.fullmatch(tenant):
        raise Invalid(f"a tenant's name is small letters, digits, - and _, not {tenant!r}")
    if len(name) > MAX_NAME_LENGTH:
        raise Invalid(f"a key's name has at most {MAX_NAME_LENGTH} characters")
    if not scopes:
        raise Invalid(f"a key needs a scope: {', '.join(Scope)}")
    if not 1 <= days <= MAX_DAYS:
        raise Invalid(f"a key lives for 1 to {MAX_DAYS} days, not {days}")


def list_keys(session: Reader, tenant: str | None) -> Sequence[AnyRow]:
    """The keys of one tenant or of all."""
    return repository.list_keys(session, tenant)


def revoke_key(session: Session, key_id: str, tenant: str | None = None) -> AnyRow:
    """End a key's life, of any tenant or of one; a key that has ended stays as it is."""
    with session.begin():
        row = repository.read_key(session, key_id)
        if row is not None and tenant in {None, row.tenant}:
            revoked = repository.revoke(session, key_id)
            if revoked is not None:
                record(session, row.tenant, Action.KEY_REVOKED, key_id)
            return revoked or row
    raise NotFound.of("key", key_id)


def read_id(token: str) -> str:
    """The id in a key, or Unauthorized for what cannot be one; asks no database."""
    key_id = id_of(token)
    if key_id is None:
        raise Unauthorized("this is no key of this service; it may be mistyped")
    return key_id


def verify(session: Reader, secret: bytes, token: str) -> Verified:
    """Who holds this key, or Unauthorized."""
    key_id = read_id(token)
    row = repository.read_key(session, key_id)
    if row is None or not hmac.compare_digest(row.digest, digest_of(token, secret)):
        raise Unauthorized("this service knows no such key")
    # From here on the caller has shown the whole key, and may know what became of it.
    if row.revoked_at is not None:
        raise Unauthorized(f"the key {key_id} was revoked")
    if row.expires_at <= row.now:
        raise Unauthorized(f"the key {key_id} has expired")
    noted = row.last_used_at is not None and row.now - row.last_used_at < USE_NOTED
    actor = Actor(ActorKind.KEY, key_id, row.name)
    return Verified(key_id, Grant(row.tenant, frozenset(map(Scope, row.scopes)), actor), noted)


def note_use(session: Session, key_id: str) -> None:
    """Write when a key was last used, to the minute."""
    with session.begin():
        repository.note_use(session, key_id, USE_NOTED)
