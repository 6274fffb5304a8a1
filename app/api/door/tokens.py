"""Remembers which tokens of issuers are good: what was judged once is not judged at every poll."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass

from app.api.door.guesses import Guesses
from app.api.door.issuer_keys import PACE_SECONDS, Fetch, IssuerKeys
from app.api.recent import Recent
from app.errors import Unauthorized
from app.identity.claims import grant_of
from app.identity.discovery import fetch_keys
from app.identity.signatures import KeySet, read_claims, read_draft, refused, seconds_left
from app.issuers import Issuer
from app.keys.service import Grant

KEPT = 4096


@dataclass(frozen=True)
class _Known:
    """A token that was good by these keys, and is until then."""

    grant: Grant
    issuer: IssuerKeys
    keys: KeySet | None
    until: float

    @property
    def is_good(self) -> bool:
        self.issuer.refresh_old()
        return self.keys is self.issuer.current and time.monotonic() < self.until


class Tokens:
    """Tokens of the configured issuers; all others are refused before anybody is asked."""

    def __init__(
        self,
        issuers: Sequence[Issuer],
        guesses: Guesses,
        fetch: Fetch = fetch_keys,
        pace_seconds: float = PACE_SECONDS,
    ) -> None:
        self._issuers = {one.issuer: IssuerKeys(one, fetch, pace_seconds) for one in issuers}
        self._guesses = guesses
        # By their hashes: the tokens themselves are not kept.
        self._known: Recent[bytes, _Known] = Recent(KEPT)

    async def grant_of(self, text: str, address: str = "") -> Grant:
        """What the token allows at this moment, or Unauthorized; TooMany after too many guesses."""
        digest = hashlib.sha256(text.encode()).digest()
        known = self._known.get(digest)
        if known is None:
            known = await self._guess(text, address)
        elif not known.is_good:
            # Once good, it is no guess: a stranger at the same address holds up nobody.
            self._known.forget(digest)
            known = await self._judge(text)
        self._known[digest] = known
        return known.grant

    async def _guess(self, text: str, address: str) -> _Known:
        """Judge what nobody has seen before; only what is refused counts."""
        self._guesses.take(address)
        try:
            known = await self._judge(text)
        except Unauthorized:
            raise
        except BaseException:
            self._guesses.give_back(address)
            raise
        self._guesses.give_back(address)
        return known

    async def _judge(self, text: str) -> _Known:
        draft = read_draft(text)
        issuer = self._issuers.get(draft.issuer)
        if issuer is None:
            raise refused("its issuer is not known here")
        key = await issuer.find(draft)
        keys = issuer.current
        claims = read_claims(draft, key, issuer.issuer)
        grant = grant_of(claims, issuer.issuer)
        return _Known(grant, issuer, keys, time.monotonic() + seconds_left(claims))
