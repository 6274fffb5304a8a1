"""What routes are given: the parts of the service and who is asking."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Concatenate, ParamSpec, TypeVar

from fastapi import Depends, Path, Request
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from app.actors import Origin
from app.api.door.auth import address_of
from app.api.door.keyring import Keyring
from app.api.polling.answers import Answer
from app.api.polling.versions import Versions
from app.api.polling.waiting import Watcher
from app.api.recent import Recent
from app.broker import Bell
from app.connections.registry import Connections
from app.db.base import Reader
from app.db.session import Database
from app.db.tenants import TenantDatabase
from app.errors import UnsupportedMedia
from app.keys.service import Grant
from app.settings import Settings
from app.store.base import Store

if TYPE_CHECKING:  # it loads cryptography, which most services do without
    from app.api.door.tokens import Tokens

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Services:
    """The parts, made once at the start; `database` sees every tenant's rows, `tenants` one's."""

    settings: Settings
    database: Database
    tenants: TenantDatabase
    bell: Bell
    store: Store
    connections: Connections
    watcher: Watcher
    answers: Recent[str, Answer]
    versions: Versions
    keyring: Keyring
    tokens: Tokens | None


@dataclass(frozen=True)
class Caller:
    """A request's way to the services; every call carries its tenant."""

    services: Services
    tenant: str
    origin: Origin

    @property
    def tenants(self) -> TenantDatabase:
        """The database, for services that open sessions of their own on the caller's behalf."""
        return self.services.tenants.acting_for(self.origin)

    def read(
        self, call: Callable[Concatenate[Reader, str, P], T], *args: P.args, **kw: P.kwargs
    ) -> T:
        """Call a service that only reads; once more if its connection had died while idle."""
        return self.services.tenants.read_again(
            self.tenant, lambda session: call(session, self.tenant, *args, **kw)
        )

    def write(
        self, call: Callable[Concatenate[Session, str, P], T], *args: P.args, **kw: P.kwargs
    ) -> T:
        """Call a service that writes, in transactions of its own."""
        with self.tenants.write(self.tenant) as session:
            return call(session, self.tenant, *args, **kw)

    async def read_aside(
        self, call: Callable[Concatenate[Reader, str, P], T], *args: P.args, **kw: P.kwargs
    ) -> T:
        """The same as `read`, from an asynchronous route."""
        return await run_in_threadpool(lambda: self.read(call, *args, **kw))


async def resolve_caller(request: Request) -> Caller:
    """Who is asking, as the door found out."""
    grant: Grant = request.scope["grant"]
    origin = Origin(grant.actor, address_of(request.scope), request.scope["request_id"])
    return Caller(request.app.state.services, grant.tenant, origin)


async def require_json(request: Request) -> None:
    """Refuse a document that does not say it is JSON."""
    media_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise UnsupportedMedia(f"send application/json, not {media_type or 'nothing'}")


CallerDep = Annotated[Caller, Depends(resolve_caller)]
JOB_ID = re.compile(r"^job_[0-9a-f]{32}$")
JobId = Annotated[
    str, Path(pattern=JOB_ID.pattern, examples=["job_0123456789abcdef0123456789abcdef"])
]
KeyId = Annotated[str, Path(pattern=r"^key_[0-9A-Za-z]{16}$", examples=["key_4yUo3jnS1Wd0Vbqz"])]
WebhookId = Annotated[
    str, Path(pattern=r"^wh_[0-9a-f]{32}$", examples=["wh_0123456789abcdef0123456789abcdef"])
]
DatasetId = Annotated[
    str, Path(pattern=r"^ds_[0-9a-f]{32}$", examples=["ds_0123456789abcdef0123456789abcdef"])
]
