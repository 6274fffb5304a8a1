"""Whether a connection works as it is written down, told to the operator who wrote it."""

from __future__ import annotations

import errno
import http.client
import socket
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import obstore
import psycopg
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

from app.connections.registry import AnyConnection, BadConnections, with_secrets
from app.datasets.faults import Rejected
from app.references.buckets import folder_of, open_bucket
from app.references.downloads import connected, judged
from app.references.postgres import address_of
from app.references.secrecy import without_secrets

MARK = ".pith-check"
SCHEMAS = "SELECT nspname FROM pg_namespace WHERE has_schema_privilege(oid, 'USAGE')"
RIGHTS = "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"


REFUSED = (PermissionDeniedError, UnauthenticatedError, PermissionError)


class Wrong(Exception):
    """What an operator has to put right."""


def try_connection(connection: AnyConnection) -> str | None:
    """What is wrong with it, in a sentence without secrets; None if nothing is."""
    try:
        usable = with_secrets(connection)
    except BadConnections as error:
        return str(error)
    trials = {"postgres": _try_postgres, "https": _try_https}
    try:
        trials.get(connection.type, _try_bucket)(usable)
    except (Wrong, Rejected) as error:
        return without_secrets(str(error), usable)
    return None


def _try_bucket(connection: Mapping[str, Any]) -> None:
    if connection["type"] == "file" and not folder_of(connection).is_dir():
        raise Wrong(f"there is no directory {folder_of(connection)}")
    try:
        bucket = open_bucket(connection)
        for folder in connection["read"]:
            next(iter(obstore.list(bucket, folder or None, chunk_size=1)), None)
        for folder in connection["write"]:
            path = f"{folder}/{MARK}".removeprefix("/")
            obstore.put(bucket, path, b"")
            obstore.delete(bucket, path)
    except (BaseError, OSError) as error:
        raise Wrong(_of_bucket(error)) from None


def _of_bucket(error: Exception) -> str:
    words = str(error)
    if isinstance(error, REFUSED) or "status code: 403" in words or "status code: 401" in words:
        return "it refuses the credentials, or what they would do there"
    if isinstance(error, FileNotFoundError) or "NoSuchBucket" in words:
        return "there is no such bucket"
    return "it cannot be reached: see its url, endpoint and region"


def _try_https(connection: Mapping[str, Any]) -> None:
    for name in connection["hosts"]:
        scheme = "http" if connection["plain"] else "https"
        try:
            with closing(connected(connection, judged(connection, f"{scheme}://{name}/"))):
                pass
        except (http.client.HTTPException, OSError) as error:
            raise Wrong(f"{name} cannot be reached: {_of_network(error)}") from None


def _of_network(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "its name is unknown"
    number = getattr(error, "errno", None)
    known = {errno.ECONNREFUSED: "nobody listens there", None: "it does not answer"}
    return known.get(number, str(error))


def _try_postgres(connection: Mapping[str, Any]) -> None:
    try:
        with psycopg.connect(address_of(connection)) as session:
            known = {name for (name,) in session.execute(SCHEMAS)}
            is_superuser = session.execute(RIGHTS).fetchone() == (True,)
    except psycopg.Error as error:
        raise Wrong(str(error).strip().splitlines()[-1]) from None
    if missing := [schema for schema in connection["schemas"] if schema not in known]:
        raise Wrong(f"its role may not use the schema {missing[0]!r}, or there is none")
    if is_superuser:
        raise Wrong("its role is a superuser, who may read and do anything")
