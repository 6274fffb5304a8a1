"""Objects of a connection: found by a pattern, fixed by their tags, fetched by range."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import unquote, urlsplit

import obstore
from obstore.store import LocalStore, ObjectStore, from_url

from app.connections.paths import is_within, matcher, root_of
from app.datasets.faults import Passing, Rejected
from app.store.files import FOOTER_BYTES, RETRY_SECONDS, Reading, translated

if TYPE_CHECKING:
    from obstore.store import RetryConfig

MAX_OBJECTS = 10_000
CHANGED = "an object changed while it was read"

Tell = Callable[[int], None]


@dataclass(frozen=True)
class Found:
    """An object as it was when it was looked for."""

    path: str
    size: int
    e_tag: str | None
    version: str | None

    def to_json(self) -> dict[str, Any]:
        """As the dataset keeps it."""
        return asdict(self)


def open_bucket(connection: Mapping[str, Any], retries: RetryConfig | None = None) -> ObjectStore:
    """A way to the objects, by the secrets of this connection and no others.

    Without any word of secrets (None), by those of whoever runs this.
    """
    if connection["type"] == "file":
        return LocalStore(folder_of(connection))
    config: dict[str, Any] = dict(connection["secrets"] or {})
    if connection["secrets"] == {}:  # else the machine's own identity would be tried
        config["skip_signature"] = True
    for name in ("endpoint", "region"):
        if connection[name]:
            config[name] = connection[name]
    # Whether HTTP will do is said by the endpoint that the operator gave.
    options: Any = {
        "config": config,
        "client_options": {"allow_http": True},
        "retry_config": retries or {"retry_timeout": RETRY_SECONDS},
    }
    return from_url(connection["url"], **options)


def folder_of(connection: Mapping[str, Any]) -> Path:
    """The directory of a connection to files."""
    return Path(unquote(urlsplit(connection["url"]).path)).resolve()


def find(bucket: ObjectStore, connection: Mapping[str, Any], pattern: str) -> list[Found]:
    """The objects that match a pattern, in order; Rejected when there are none or too many."""
    found = sorted(_matching(bucket, connection, pattern), key=lambda one: one.path)
    if not found:
        raise Rejected(f"nothing matches {pattern!r}")
    if len(found) > MAX_OBJECTS:
        raise Rejected(f"{len(found)} objects match {pattern!r}, more than {MAX_OBJECTS}")
    return found


def _matching(bucket: ObjectStore, connection: Mapping[str, Any], pattern: str) -> Iterator[Found]:
    root, matches = root_of(pattern), matcher(pattern)
    if root == pattern:
        listed: Any = [head(bucket, pattern)]
    else:
        with translated(root):
            listed = list(chain.from_iterable(obstore.list(bucket, root or None)))
    for one in listed:
        path = one["path"]
        if matches.match(path) and is_within(path, connection["read"]):
            check_links(connection, path)
            yield Found(path, one["size"], one["e_tag"], one["version"])


def head(bucket: ObjectStore, path: str) -> Any:
    """What is known of an object; Rejected when there is none."""
    try:
        with translated(path):
            return obstore.head(bucket, path)
    except FileNotFoundError:
        raise Rejected(f"there is no {path!r}") from None


def check_links(connection: Mapping[str, Any], path: str, may: str = "read") -> None:
    """A link in a directory may lead out of it, and of the folders that may be used so."""
    if connection["type"] != "file":
        return
    folder = folder_of(connection)
    inside = (folder / part for part in connection[may])
    if not any((folder / path).resolve().is_relative_to(part) for part in inside):
        raise Rejected(f"{path!r} leads out of the connection")


def open_object(bucket: ObjectStore, found: Found, tell: Tell = lambda _: None) -> BinaryIO:
    """An object, to be read anywhere; `tell` counts what is fetched of it."""
    return io.BufferedReader(Reading(bucket, found.path, found.size, tell), FOOTER_BYTES)


def check_unchanged(bucket: ObjectStore, found: Found) -> None:
    """What was read is what was found, or another attempt is needed."""
    now = head(bucket, found.path)
    if (now["e_tag"], now["size"]) != (found.e_tag, found.size):
        raise Passing(CHANGED)
