"""Remembers for half a second which keys are good: polls then cost no query of their own.

Keys that nobody knows do cost one, and are limited by the address they come from. A key that was
good once is not a guess: whoever shares an address with a stranger goes on unhindered.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import structlog
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from app.api.door.guesses import Guesses
from app.api.recent import Recent
from app.db.session import Database
from app.errors import Unauthorized
from app.keys import service
from app.keys.service import Grant
from app.keys.token import digest_of

log = structlog.get_logger(__name__)

# A revoked key stops working after this long; the promise is a second.
KEPT_SECONDS = 0.5
KEPT = 4096


@dataclass(frozen=True)
class _Known:
    """A question to the database, asked or answered; never older than `until` says."""

    answer: asyncio.Task[Grant | Unauthorized]
    until: float


class Keyring:
    """One question at a time for each key, however many requests carry it."""

    def __init__(self, database: Database, secret: bytes, guesses: Guesses) -> None:
        self._database = database
        self.secret = secret
        self._guesses = guesses
        self._good: Recent[str, None] = Recent(KEPT)
        # By their hashes: the keys themselves are not kept, and timing tells nothing about them.
        self._known: Recent[str, _Known] = Recent(KEPT)
        self._noting: set[asyncio.Task[None]] = set()

    async def grant_of(self, token: str, address: str = "") -> Grant:
        """What the key allows at this moment, or Unauthorized; TooMany after too many guesses."""
        digest = digest_of(token, self.secret)
        known = self._known.get(digest)
        if known is None or known.until < time.monotonic():
            known = self._ask(digest, token, address)
        if not known.answer.done():
            # Shielded: one caller who goes away must not take the answer from the others.
            await asyncio.wait([known.answer])
        answer = known.answer.result()
        if isinstance(answer, Unauthorized):
            raise Unauthorized(answer.detail)
        return answer

    def _ask(self, digest: str, token: str, address: str) -> _Known:
        is_guess = digest not in self._good
        if is_guess:
            self._guesses.take(address)  # before the answer: many may ask at once
        service.read_id(token)
        answer = asyncio.create_task(self._look_up(digest, token))
        if is_guess:
            answer.add_done_callback(lambda task: self._settle(task, address))
        known = self._known[digest] = _Known(answer, time.monotonic() + KEPT_SECONDS)
        return known

    def _settle(self, answer: asyncio.Task[Grant | Unauthorized], address: str) -> None:
        """Only a key that is refused was a guess."""
        refused = not answer.cancelled() and answer.exception() is None
        if not (refused and isinstance(answer.result(), Unauthorized)):
            self._guesses.give_back(address)

    async def _look_up(self, digest: str, token: str) -> Grant | Unauthorized:
        try:
            verified = await run_in_threadpool(
                self._database.read_again,
                lambda session: service.verify(session, self.secret, token),
            )
        except Unauthorized as refused:
            self._good.forget(digest)
            return refused
        except BaseException:
            self._known.forget(digest)  # the next request asks again
            raise
        self._good[digest] = None
        if not verified.is_noted:
            self._note(verified.key_id)
        return verified.grant

    def _note(self, key_id: str) -> None:
        """Aside, since on SQLite writing may have to wait its turn."""
        noting = asyncio.create_task(run_in_threadpool(self._write_use, key_id))
        self._noting.add(noting)
        noting.add_done_callback(self._noting.discard)

    def _write_use(self, key_id: str) -> None:
        try:
            with self._database.write() as session:
                service.note_use(session, key_id)
        except SQLAlchemyError as error:  # the next use is noted instead
            log.warning("use of a key not noted", error=str(error))
