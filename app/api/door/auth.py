"""The door: who is asking, and whether that is allowed, before anything of a request is read."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping

from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from app.actors import ActorKind
from app.addresses import is_loopback
from app.api.door.keyring import KEPT_SECONDS
from app.api.door.rate_limit import RateLimit
from app.api.problems import respond_to
from app.errors import CLOSE, Forbidden, ServiceError, TooMany, Unauthorized
from app.keys.scopes import Scope
from app.keys.service import Grant
from app.keys.token import PREFIX
from app.settings import Settings

# Everything else needs a key, also what does not exist.
PUBLIC = frozenset({"/", "/livez", "/readyz", "/version", "/openapi.json", "/docs"})
PUBLIC_BELOW = ("/docs/", "/web/")
ADMIN_ONLY = ("/metrics", "/v1/keys", "/v1/audit")
ADMIN_ONLY_BELOW = tuple(f"{path}/" for path in ADMIN_ONLY)
FOREIGN = {b"cross-site", b"same-site"}
READING = frozenset({"GET", "HEAD"})
SCHEME = "bearer "
REALM = 'Bearer realm="pith"'
ANYTHING = Grant()
# Behind a proxy it is whatever the proxy says.
MAX_ADDRESS = 64


def is_public(path: str) -> bool:
    """Whether a path is answered to anybody."""
    return path in PUBLIC or path.startswith(PUBLIC_BELOW)


def scope_for(method: str, path: str) -> Scope:
    """What a key must allow for this call."""
    if path in ADMIN_ONLY or path.startswith(ADMIN_ONLY_BELOW):
        return Scope.ADMIN
    return Scope.READ if method in READING else Scope.WRITE


class Refused(Exception):
    """Passes every handler of the application by, up to the door."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(reason)
        self.reason = reason


class Guarded:
    """Plain ASGI: puts the caller's grant into the scope, or answers 401 or 403 at once."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.keys_required = settings.keys_required
        self.has_issuers = bool(settings.oidc_issuers)
        self.rate_limit = RateLimit(settings.tenant_requests_per_second)

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Let a request in, and its answer out."""
        if scope["type"] != "http" or is_public(scope["path"]):
            await self.app(scope, receive, send)
            return
        answer = _ExpiringAnswer(send, lambda: self._admit(scope))
        try:
            grant = scope["grant"] = await self._admit(scope)
            if grant is not ANYTHING:
                self.rate_limit.take(grant.tenant)
            reading = scope["method"] in READING
            await self.app(scope, receive, answer.send if reading else send)
        except Refused as refused:
            await answer.end(scope, receive, refused.reason)
        except TooMany as refused:
            await answer.end(scope, receive, refused)

    async def _admit(self, scope: Connection) -> Grant:
        try:
            return await self._identify(scope)
        except (ServiceError, SQLAlchemyError) as error:
            raise Refused(error) from error

    async def _identify(self, scope: Connection) -> Grant:
        authorization = _authorization(scope)
        if authorization is None and self._is_open(scope):
            return ANYTHING
        if authorization is None or not authorization.lower().startswith(SCHEME):
            detail = "send a key of this service as Authorization: Bearer pith_..."
            if self.has_issuers:
                detail += ", or a token of its issuers"
            if not self.keys_required:
                detail += "; without one it answers at 127.0.0.1 and localhost only"
            raise Unauthorized(detail, code="key_required", headers={"WWW-Authenticate": REALM})
        token, services = authorization[len(SCHEME) :].strip(), scope["app"].state.services
        known = services.keyring
        if services.tokens is not None and not token.startswith(PREFIX):
            known = services.tokens
        try:
            grant = await known.grant_of(token, address_of(scope) or "")
        except Unauthorized as refused:
            refused.headers["WWW-Authenticate"] = f'{REALM}, error="invalid_token"'
            raise
        return _allowed(grant, scope_for(scope["method"], scope["path"]))

    def _is_open(self, scope: Connection) -> bool:
        """Whether nobody is asked for a key: on this machine, and not by way of a browser's visit.

        Not by the settings alone: an inherited socket may listen elsewhere, the name of another's
        page may be made to lead here (DNS rebinding), and another's form may be sent here.
        """
        if self.keys_required or scope.get("server") is None:
            return False
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        if scope["method"] not in READING and _is_foreign(headers, host):
            return False
        return is_loopback(scope["server"][0]) and is_loopback(_name(host))


class _ExpiringAnswer:
    """An answer that takes long, a wait or a stream of events, ends when its key does."""

    def __init__(self, send: Send, admit: Callable[[], Awaitable[Grant]]) -> None:
        self._send = send
        self._admit = admit
        self._good_until = time.monotonic() + KEPT_SECONDS
        self._started = False

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on, if the key is still good."""
        if time.monotonic() > self._good_until:
            await self._admit()
            self._good_until = time.monotonic() + KEPT_SECONDS
        self._started = True
        await self._send(message)

    async def end(self, scope: Connection, receive: Receive, reason: Exception) -> None:
        """Say why, or stop where it is."""
        if self._started:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            response = await respond_to(Request(scope), reason)
            if scope["method"] not in READING:  # its body was not read and never will be
                response.headers.update(CLOSE)
            await response(scope, receive, self._send)


def _is_foreign(headers: Mapping[bytes, bytes], host: str) -> bool:
    """Whether the page of another sends this; browsers say so in either header."""
    origin = headers.get(b"origin", b"").decode("latin-1")
    elsewhere = bool(origin) and origin.rpartition("://")[2] != host
    return elsewhere or headers.get(b"sec-fetch-site") in FOREIGN


def _name(host: str) -> str:
    """A host without its port."""
    name, _, port = host.rpartition(":")
    return (name if name and port.isdecimal() else host).strip("[]")


def address_of(scope: Connection) -> str | None:
    """Where a request comes from, as far as the server can tell."""
    client = scope.get("client")
    return client[0][:MAX_ADDRESS] if client else None


def _authorization(scope: Connection) -> str | None:
    for name, value in scope["headers"]:
        if name == b"authorization":
            text: str = value.decode("latin-1")
            return text
    return None


def _allowed(grant: Grant, needed: Scope) -> Grant:
    if needed not in grant.scopes:
        challenge = f'{REALM}, error="insufficient_scope", scope="{needed}"'
        what = "token" if grant.actor.kind is ActorKind.SUBJECT else "key"
        detail = f"this {what} lacks the scope {needed}"
        raise Forbidden(detail, headers={"WWW-Authenticate": challenge})
    return grant
