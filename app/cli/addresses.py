"""Files of whoever runs the command, by address: their own credentials, and no service."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.datasets.limits import Limits
from app.references.reading import read
from app.references.source import Source
from core.errors import InvalidData

BUCKETS = {"s3", "gs", "az"}


def is_address(place: str) -> bool:
    """Whether a place is not a file of this machine."""
    return "://" in place


def read_address(address: str, directory: Path, limits: Limits) -> dict[str, Any]:
    """Write the typed columns into the directory; what was found, as of an upload."""
    scheme, host, path, *_ = urlsplit(address.replace("?", "%3F"))
    if scheme not in BUCKETS | {"https"} or not host or path in {"", "/"}:
        raise InvalidData(f"{address} is no address of files in s3, gs, az or https", "file")
    if scheme == "https":
        # As everywhere: to public addresses only.
        connection: dict[str, Any] = {"hosts": [host], "networks": [], "plain": False}
        where = {**connection, "type": scheme, "secrets": {}}
        return read(where, _source(address), directory, limits)
    bucket = {"type": scheme, "url": f"{scheme}://{host}", "endpoint": None, "region": None}
    where = {**bucket, "read": [""], "secrets": None}
    return read(where, _source(address.partition(f"{host}/")[2]), directory, limits)


def _source(path: str) -> dict[str, Any]:
    return Source(connection="own", path=path).model_dump(mode="json")
