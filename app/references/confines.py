"""Files that the metadata of a table names: whoever wrote it may have named anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

from obstore.store import ObjectStore

from app.connections.paths import is_safe, is_within
from app.datasets.faults import Rejected
from app.references.buckets import Found, Tell, check_links, head, open_object

# Names of the same thing, by which other programs write down where they put files.
ALIASES = {"s3": ("s3a", "s3n")}


@dataclass(frozen=True)
class Confines:
    """What may be opened: the folders of a connection that may be read, by its own secrets."""

    bucket: ObjectStore
    connection: Mapping[str, Any]
    tell: Tell = lambda _: None

    def check(self, path: str) -> str:
        """A path below the connection, or Rejected."""
        if not is_safe(path) or not is_within(path, self.connection["read"]):
            raise Rejected(_beyond(path))
        check_links(self.connection, path)
        return path

    def path_of(self, location: str) -> str:
        """The path of a whole address, or Rejected when it is another connection's, or nobody's."""
        for start in self._starts():
            if location.startswith(f"{start}/"):
                return self.check(location.removeprefix(f"{start}/"))
        raise Rejected(_beyond(location))

    def open(self, path: str) -> BinaryIO:
        """The file of a path that was checked."""
        one = head(self.bucket, path)
        return open_object(
            self.bucket, Found(path, one["size"], one["e_tag"], one["version"]), self.tell
        )

    def address(self, path: str) -> str:
        """A path as its library wants it."""
        return f"{next(self._starts())}/{path}"

    def _starts(self) -> Iterator[str]:
        kind, url = self.connection["type"], self.connection["url"].rstrip("/")
        if kind == "file":
            folder = unquote(urlsplit(url).path).rstrip("/")
            yield from (folder, f"file:{folder}", f"file://{folder}")
        else:
            yield url
            yield from (alias + url.removeprefix(kind) for alias in ALIASES.get(kind, ()))


def _beyond(what: str) -> str:
    return f"the table names {what[:200]!r}, which is not below what the connection may read"
