"""The keys of an issuer, found the way OpenID Connect Discovery says."""

from __future__ import annotations

import json
import time
from http.client import HTTPConnection, HTTPException
from importlib.metadata import version
from typing import Any

from app.addresses import AddressRefused, Place, parse_place
from app.channels import connected
from app.identity.signatures import KeySet
from app.issuers import Issuer, require_secure

WELL_KNOWN = "/.well-known/openid-configuration"
# For both documents together, each of which is a few thousand bytes long.
FETCH_SECONDS = 5.0
MAX_BYTES = 1 << 18
AGENT = f"Pith/{version('pith')}"


class IssuerAway(Exception):
    """An issuer does not say what its keys are."""


def fetch_keys(issuer: Issuer) -> KeySet:
    """Ask the issuer; IssuerAway if it does not answer in time, or with something else."""
    until = time.monotonic() + FETCH_SECONDS
    try:
        found = _get(issuer.issuer.rstrip("/") + WELL_KNOWN, until)
        if found["issuer"] != issuer.issuer:
            raise ValueError(f"it calls itself {found['issuer']!r}")
        keys = _get(require_secure(found["jwks_uri"]), until)["keys"]
        return KeySet([key for key in keys if isinstance(key, dict)], issuer.algorithms)
    except (OSError, HTTPException, AddressRefused, ValueError, KeyError, TypeError) as error:
        raise IssuerAway(f"{type(error).__name__}: {error}") from error


def _get(url: str, until: float) -> Any:
    """A document, from where the address says and nowhere else: redirects are not followed."""
    place = parse_place(url)
    connection = HTTPConnection(place.host, place.port)
    with connected(place, place.host, max(0.1, until - time.monotonic())) as channel:
        connection.sock = channel
        connection.request("GET", place.target, headers=_headers(place))
        with connection.getresponse() as answer:
            body = answer.read(MAX_BYTES + 1)
    if answer.status != 200:
        raise ValueError(f"{url} answered {answer.status}")
    if len(body) > MAX_BYTES:
        raise ValueError(f"{url} answered more than {MAX_BYTES} bytes")
    return json.loads(body)


def _headers(place: Place) -> dict[str, str]:
    accept = {"Accept": "application/json", "Connection": "close"}
    return {"Host": place.authority, "User-Agent": AGENT, **accept}
