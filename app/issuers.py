"""Issuers of OIDC tokens, as settings name them: whom to believe, and what their claims mean."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

# Only what is signed with a key that the issuer alone has: never `none`, and no HMAC, for which a
# public key could be passed off as the secret.
Algorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"
]
ScopeName = Literal["read", "write", "admin"]
Named = Annotated[str, Field(min_length=1)]
LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def require_secure(url: str) -> str:
    """Refuse an address that others could answer for; on this machine nobody else can."""
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return url
    if parts.scheme == "http" and parts.hostname in LOOPBACK:
        return url
    raise ValueError("must begin with https:// and name a host")


SecureUrl = Annotated[str, AfterValidator(require_secure)]


class Issuer(BaseModel):
    """Tokens that `issuer` signs for `audience` are believed, and mean what the claims map to.

    A claim is named as it stands, or by a path with dots. With `client_id` the page signs in there.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    issuer: SecureUrl
    audience: Named
    algorithms: tuple[Algorithm, ...] = Field(default=("RS256", "ES256"), min_length=1)
    tenant_claim: Named = "tenant"
    # By the claim's value; without any, the value is the tenant's name.
    tenants: dict[str, str] = {}
    scope_claim: Named = "scope"
    scopes: dict[str, tuple[ScopeName, ...]] = {
        "pith:read": ("read",),
        "pith:write": ("write",),
        "pith:admin": ("admin",),
    }
    client_id: str = ""
    client_scope: Named = "openid"
    # What else an issuer wants to be asked with, such as Auth0's `audience`.
    client_parameters: dict[str, str] = {}
    # Where its token endpoint is, if not at its own origin.
    token_origins: tuple[SecureUrl, ...] = ()

    @property
    def origins(self) -> tuple[str, ...]:
        """The origins that a page which signs in must reach."""
        return tuple(dict.fromkeys(map(_origin, (self.issuer, *self.token_origins))))


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
