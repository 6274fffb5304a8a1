"""The HTTP application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from app.api.deps import Services
from app.api.door.auth import Guarded
from app.api.door.guesses import Guesses
from app.api.door.heads import Headed
from app.api.door.keyring import Keyring
from app.api.door.observation import Observed, RequestMetrics
from app.api.door.prefix import Prefixed
from app.api.openapi import install_openapi
from app.api.polling.answers import keep_answers
from app.api.polling.versions import Version, Versions
from app.api.polling.waiting import Watcher
from app.api.problems import install_handlers
from app.api.routes import (
    audit,
    check,
    columns,
    connections,
    data,
    datasets,
    deliveries,
    difference,
    events,
    exports,
    health,
    jobs,
    keys,
    methods,
    metrics,
    pages,
    poll,
    references,
    report,
    results,
    usage,
    webhooks,
)
from app.broker import BackgroundBell, make_celery
from app.connections.registry import load_connections
from app.db.session import Database
from app.db.tenants import TenantDatabase
from app.jobs.repository import read_versions
from app.keys.secret import load_secret
from app.settings import Settings, get_settings
from app.store.places import open_store
from app.traces import current

if TYPE_CHECKING:
    from app.api.door.tokens import Tokens

DESCRIPTION = """Feature selection as a service. Upload a dataset, submit a job, poll it, read the
result. Every error is a problem document (RFC 9457) with a stable `code`."""
# The most called first.
ROUTES = (
    jobs,
    poll,
    events,
    results,
    datasets,
    columns,
    references,
    connections,
    check,
    report,
    data,
    difference,
    exports,
    health,
    methods,
    metrics,
    webhooks,
    deliveries,
    usage,
    keys,
    audit,
    pages,
)


def create_app(settings: Settings | None = None) -> FastAPI:
    """The application; connections open when it starts and close when it stops."""
    settings = settings or get_settings()
    app = FastAPI(
        title="Pith",
        version=version("pith"),
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        # A redirect would lead to whatever the request's own Host says, past the prefix.
        redirect_slashes=False,
        lifespan=_lifespan,
    )
    app.state.settings = settings
    app.state.registry = CollectorRegistry()
    for part in ROUTES:
        app.include_router(part.router)
    install_handlers(app)
    install_openapi(app, settings.root_path)
    app.add_middleware(Headed)
    app.add_middleware(Guarded, settings=settings)
    app.add_middleware(
        Observed,
        metrics=RequestMetrics(app.state.registry),
        body_seconds=settings.upload_window_seconds,
    )
    app.add_middleware(Prefixed, prefix=settings.root_path)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[dict[str, Callable[[], None]]]:
    settings: Settings = app.state.settings
    current.configure(settings, "api")
    url, seconds = settings.database_url, settings.database_seconds
    # Most of the budget is for callers; the service itself reads for all of them at once.
    own = max(2, settings.database_connections // 5)
    database = Database(url, connections=own, seconds=seconds)
    tenants = TenantDatabase(url, connections=settings.database_connections - own, seconds=seconds)

    def read(job_ids: Sequence[str]) -> dict[str, Version]:
        rows = database.read_again(lambda session: read_versions(session, job_ids))
        return {row.id: Version(row.tenant, row.version) for row in rows}

    watcher = Watcher(read)
    guesses = Guesses(settings.failed_keys_per_minute)
    app.state.services = Services(
        settings=settings,
        database=database,
        tenants=tenants,
        bell=BackgroundBell(make_celery(settings.broker_url)),
        store=open_store(settings),
        connections=load_connections(settings.connections),
        watcher=watcher,
        answers=keep_answers(),
        versions=Versions(read),
        keyring=Keyring(database, load_secret(settings), guesses),
        tokens=_open_tokens(settings, guesses),
    )
    yield {"stop_waiting": watcher.close}
    watcher.close()
    tenants.dispose()
    database.dispose()
    current.close()


def _open_tokens(settings: Settings, guesses: Guesses) -> Tokens | None:
    if not settings.oidc_issuers:
        return None
    # Cryptography takes a tenth of a second to load, and most services have no issuer.
    from app.api.door.tokens import Tokens  # noqa: PLC0415

    return Tokens(settings.oidc_issuers, guesses)
