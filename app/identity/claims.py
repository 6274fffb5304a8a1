"""What the claims of a believed token mean here: a tenant, scopes, a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.actors import Actor, ActorKind
from app.errors import Forbidden
from app.issuers import Issuer
from app.keys.scopes import Scope
from app.keys.service import TENANT, Grant

NAMES = ("preferred_username", "name", "email", "client_id", "azp")
MAX_LENGTH = 255

Claims = Mapping[str, Any]


def grant_of(claims: Claims, issuer: Issuer) -> Grant:
    """Who is asking and what is allowed, or Forbidden where the claims name no tenant."""
    return Grant(_tenant(claims, issuer), _scopes(claims, issuer), _actor(claims, issuer))


def _tenant(claims: Claims, issuer: Issuer) -> str:
    values = _values(find_claim(claims, issuer.tenant_claim))
    tenants = [issuer.tenants.get(value) if issuer.tenants else value for value in values]
    known = {tenant for tenant in tenants if tenant is not None and TENANT.fullmatch(tenant)}
    if len(known) != 1:  # of several it would be a matter of chance which
        detail = f"the token's claim {issuer.tenant_claim!r} names no tenant of this service"
        raise Forbidden(detail, code="tenant_missing")
    return known.pop()


def _scopes(claims: Claims, issuer: Issuer) -> frozenset[Scope]:
    values = _values(find_claim(claims, issuer.scope_claim))
    return frozenset(Scope(name) for value in values for name in issuer.scopes.get(value, ()))


def _actor(claims: Claims, issuer: Issuer) -> Actor:
    names = (claims.get(name) for name in NAMES)
    name = next((name for name in names if name and isinstance(name, str)), "")
    subject = str(claims["sub"])[:MAX_LENGTH]
    return Actor(ActorKind.SUBJECT, subject, name[:MAX_LENGTH], issuer.issuer)


def find_claim(claims: Claims, name: str) -> Any:
    """A claim of this name, or else what lies at the end of its path; None if nothing does."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for step in name.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _values(claim: Any) -> list[str]:
    """Words of a text, as scopes are written, or the texts of a list, as roles are."""
    if isinstance(claim, str):
        return claim.split()
    return [one for one in claim if isinstance(one, str)] if isinstance(claim, list) else []
