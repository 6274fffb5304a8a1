"""`pith keys`: what an operator sees of keys."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection
from datetime import datetime
from typing import Any, Self

from rich.console import Console
from rich.table import Table
from sqlalchemy.orm import Session

from app.actors import OPERATOR, ORIGIN, Origin
from app.db.base import AnyRow
from app.db.migrate import is_current
from app.db.session import Database
from app.errors import Unavailable
from app.keys import repository, service
from app.keys.scopes import Scope
from app.keys.secret import load_secret
from app.settings import Settings


class KeysConsole:
    """Keys of the service with these settings, on standard output."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._database = Database(settings.database_url, connections=0)

    def __enter__(self) -> Self:
        if not is_current(self._database.engine):
            raise Unavailable("The database is not migrated: run pith migrate.")
        return self

    def __exit__(self, *_exception: object) -> None:
        self._database.dispose()

    def _acting(self) -> Session:
        return self._database.write(info={ORIGIN: Origin(OPERATOR)})

    def create(
        self, tenant: str, scopes: Collection[Scope], days: int, name: str, *, as_json: bool
    ) -> None:
        """Make a key and print it."""
        secret = load_secret(self._settings)
        with self._acting() as session:
            token, row = service.create_key(session, secret, tenant, set(scopes), days, name)
        if as_json:
            _print_json({"key": token, **_document(row)})
            return
        allowed, end = ", ".join(row.scopes), row.expires_at.date()
        _print(f"{row.id} opens tenant {row.tenant} to {allowed}, until {end}.")
        _print(f"The key, which is not shown again:\n\n  {token}\n")

    def show(self, tenant: str | None, *, as_json: bool) -> None:
        """Print the list of keys."""
        with self._database.read() as session:
            rows = service.list_keys(session, tenant)
        if as_json:
            _print_json([_document(row) for row in rows])
        elif rows:
            Console(width=None if sys.stdout.isatty() else 140).print(_table(rows))
        else:
            _print("There are no keys: pith keys create makes one.")

    def revoke(self, key_id: str, *, as_json: bool) -> None:
        """End a key's life."""
        with self._acting() as session:
            row = service.revoke_key(session, key_id)
        if as_json:
            _print_json(_document(row))
        else:
            _print(f"{row.id} of tenant {row.tenant} is revoked, since {_minute(row.revoked_at)}.")


def _document(row: AnyRow) -> dict[str, Any]:
    shown = {column.name: row._mapping[column.name] for column in repository.SHOWN}
    return {"status": _status(row)} | {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in shown.items()
    }


def _status(row: AnyRow) -> str:
    if row.revoked_at is not None:
        return "revoked"
    return "expired" if row.expires_at <= row.now else "live"


def _table(rows: Collection[AnyRow]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("key", "tenant", "scopes", "status", "expires", "last used", "name"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        expires, used = str(row.expires_at.date()), _minute(row.last_used_at)
        scopes = ", ".join(row.scopes)
        table.add_row(row.id, row.tenant, scopes, _status(row), expires, used, row.name)
    return table


def _minute(time: datetime | None) -> str:
    return "never" if time is None else f"{time:%Y-%m-%d %H:%M} UTC"


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _print_json(document: Any) -> None:
    _print(json.dumps(document, indent=2))
