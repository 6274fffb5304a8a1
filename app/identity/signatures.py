"""Tokens as issuers sign them, judged by the issuer's keys."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jwt
from jwt import PyJWK, PyJWT
from jwt.exceptions import InvalidTokenError, PyJWTError

from app.errors import Unauthorized
from app.issuers import Issuer

# Clocks of issuers and of ours agree to within this.
LEEWAY_SECONDS = 30
MAX_LENGTH = 16 << 10
REQUIRED = ["aud", "exp", "iat", "iss", "sub"]
KEYS = {"RSA": ("RS", "PS"), "EC": ("ES",), "OKP": ("Ed",)}

# Of the header: as RFC 9068 has it, as most issuers still write, or nothing.
ACCESS_TYPES = {"at+jwt", "jwt", ""}
# Claims by which other tokens of the same issuer are told where their header does not: words of
# Keycloak and Cognito, and what only tokens of identity and of sign-outs hold.
OTHER_WORDS = {"id", "refresh", "offline", "logout"}
OTHER_CLAIMS = {"at_hash", "c_hash", "events"}

_JWT = PyJWT(options={"require": REQUIRED, "enforce_minimum_key_length": True})


@dataclass(frozen=True)
class Draft:
    """What a token says of itself, believed by nobody yet."""

    text: str
    issuer: str
    algorithm: str
    key_id: str | None


def read_draft(text: str) -> Draft:
    """Who is said to have signed a token, and how; Unauthorized for what is none."""
    try:
        if len(text) > MAX_LENGTH:
            raise InvalidTokenError
        header = jwt.get_unverified_header(text)
        claims = jwt.decode(text, options={"verify_signature": False})
    except (PyJWTError, RecursionError):
        raise refused("it cannot be read") from None
    return Draft(text, str(claims.get("iss")), str(header.get("alg")), header.get("kid"))


class KeySet:
    """The keys of an issuer, each for the algorithms that it is made for and that are allowed."""

    def __init__(self, documents: Iterable[Mapping[str, Any]], allowed: Sequence[str]) -> None:
        self._keys: dict[str, list[PyJWK]] = {algorithm: [] for algorithm in allowed}
        for document in documents:
            for algorithm in allowed:
                if _is_for(document, algorithm) and (key := _parsed(document, algorithm)):
                    self._keys[algorithm].append(key)

    def find(self, draft: Draft) -> PyJWK | None:
        """The key that a token names; one that names none is taken to mean the only one."""
        keys = self._keys.get(draft.algorithm, [])
        if draft.key_id is None:
            return keys[0] if len(keys) == 1 else None
        return next((key for key in keys if key.key_id == draft.key_id), None)


def _is_for(document: Mapping[str, Any], algorithm: str) -> bool:
    families = KEYS.get(str(document.get("kty")), ())
    is_signing = document.get("use", "sig") == "sig"
    return is_signing and algorithm[:2] in families and document.get("alg", algorithm) == algorithm


def _parsed(document: Mapping[str, Any], algorithm: str) -> PyJWK | None:
    """None for what is no key, or of another curve: the others may still be good."""
    try:
        return PyJWK(dict(document), algorithm)
    except PyJWTError:
        return None


def read_claims(draft: Draft, key: PyJWK, issuer: Issuer) -> dict[str, Any]:
    """The claims of a token that is good at this moment, or Unauthorized.

    By this machine's clock: no row is judged by it, and the issuer has no access to ours.
    """
    try:
        found = _JWT.decode_complete(
            draft.text,
            key,
            algorithms=[draft.algorithm],
            audience=issuer.audience,
            issuer=issuer.issuer,
            leeway=LEEWAY_SECONDS,
        )
    except PyJWTError as error:
        raise refused(_reason(error)) from error
    claims: dict[str, Any] = found["payload"]
    if not _is_for_access(found["header"], claims):
        raise refused("it is no access token")
    return claims


def _is_for_access(header: Mapping[str, Any], claims: Mapping[str, Any]) -> bool:
    """Whether nothing says that the token was signed for another purpose."""
    kind = str(header.get("typ") or "").lower().removeprefix("application/")
    words = {str(claims.get(name)).lower() for name in ("typ", "token_use")}
    return kind in ACCESS_TYPES and not words & OTHER_WORDS and not claims.keys() & OTHER_CLAIMS


def seconds_left(claims: Mapping[str, Any]) -> float:
    """For how long a token that is good stays so."""
    return float(claims["exp"]) + LEEWAY_SECONDS - time.time()


def refused(reason: str) -> Unauthorized:
    """The refusal of a token."""
    return Unauthorized(f"this token is not accepted: {reason}", code="token_invalid")


def _reason(error: PyJWTError) -> str:
    """In words that tell nothing of the token's content."""
    reasons: list[tuple[type[PyJWTError], str]] = [
        (jwt.ExpiredSignatureError, "it has expired"),
        (jwt.ImmatureSignatureError, "it is not valid yet"),
        (jwt.InvalidAudienceError, "it is for another audience"),
        (jwt.MissingRequiredClaimError, "it lacks one of the claims " + ", ".join(REQUIRED)),
        (jwt.InvalidSignatureError, "its signature is wrong"),
    ]
    return next((words for kind, words in reasons if isinstance(error, kind)), "it is malformed")
