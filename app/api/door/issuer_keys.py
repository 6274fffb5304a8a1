"""What the keys of an issuer are: asked for rarely, by one at a time, and aside."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import structlog
from jwt import PyJWK
from starlette.concurrency import run_in_threadpool

from app.errors import Unavailable
from app.identity.discovery import FETCH_SECONDS, IssuerAway
from app.identity.signatures import Draft, KeySet, refused
from app.issuers import Issuer

log = structlog.get_logger(__name__)

Fetch = Callable[[Issuer], KeySet]

# A key that the issuer withdrew is believed for this long; an issuer is asked no more often.
FRESH_SECONDS = 600.0
# ... or, while the issuer does not answer, for this long.
GOOD_SECONDS = 86_400.0
# A stranger can name as many unknown keys as it likes.
PACE_SECONDS = 10.0


class IssuerKeys:
    """The keys of one issuer, as it named them last."""

    def __init__(self, issuer: Issuer, fetch: Fetch, pace_seconds: float = PACE_SECONDS) -> None:
        self.issuer = issuer
        self.current: KeySet | None = None
        self._fetch = fetch
        self._pace_seconds = pace_seconds
        self._fetched_at = self._asked_at = float("-inf")
        self._asking: asyncio.Task[None] | None = None

    async def find(self, draft: Draft) -> PyJWK:
        """The key that a token names; Unauthorized if there is none, Unavailable if unknown."""
        if draft.algorithm not in self.issuer.algorithms:
            raise refused("it is signed by an algorithm that is not allowed")
        self.refresh_old()
        found = self.current and self.current.find(draft)
        if not found:
            await self._ask_again()
            found = self._known().find(draft)
        if not found:
            raise refused("its issuer has no such key")
        return found

    def refresh_old(self) -> None:
        """Ask anew, aside, once the keys are old; nobody waits for it."""
        age = time.monotonic() - self._fetched_at
        if age > FRESH_SECONDS and self.current is not None:
            self._start()
        if age > GOOD_SECONDS:
            self.current = None

    def _known(self) -> KeySet:
        if self.current is None:
            wait = {"Retry-After": str(round(self._pace_seconds))}
            detail = "the issuer of this token does not say what its keys are; try again later"
            raise Unavailable(detail, code="issuer_unavailable", headers=wait)
        return self.current

    async def _ask_again(self) -> None:
        self._start()
        if self._asking is not None:
            # Not for ever: looking up a name has no time limit of its own.
            await asyncio.wait([self._asking], timeout=FETCH_SECONDS)

    def _start(self) -> None:
        if self._asking is not None or time.monotonic() < self._asked_at + self._pace_seconds:
            return
        self._asked_at = time.monotonic()
        self._asking = asyncio.create_task(self._ask())

    async def _ask(self) -> None:
        try:
            self.current = await run_in_threadpool(self._fetch, self.issuer)
            self._fetched_at = time.monotonic()
        except IssuerAway as error:
            log.warning("keys of an issuer not found", issuer=self.issuer.issuer, error=str(error))
        finally:
            self._asking = None
