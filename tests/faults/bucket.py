"""A store on a server, and a way to it that can be spoiled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests import servers
from tests.faults.proxy import Proxy, proxy


@dataclass(frozen=True)
class Bucket:
    """A store on a server, and the way to it."""

    server: servers.S3
    way: Proxy
    url: str

    @property
    def env(self) -> dict[str, str]:
        """What a process needs that keeps its datasets there."""
        endpoint = f"http://127.0.0.1:{self.way.port}"
        return {**self.server.env, "AWS_ENDPOINT_URL": endpoint, "PITH_STORE_URL": self.url}

    def keys(self) -> set[str]:
        """Everything that it holds, asked of the server itself."""
        found = self.server.objects(self.url).list()
        return {one["path"] for some in found for one in some}


@contextmanager
def bucket_on_s3() -> Iterator[Bucket]:
    """An empty one."""
    with servers.s3() as server, proxy(server.port) as way:
        yield Bucket(server, way, server.url())
