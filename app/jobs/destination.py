"""Where the files of a result are to go, and whether they may."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field, StrictBool, StringConstraints

from app.connections.definitions import Bucket
from app.connections.definitions import Name as ConnectionName
from app.connections.paths import is_plain, is_within
from app.connections.registry import Connections
from app.errors import FieldError, Invalid, pointer
from app.jobs.methods import Strict

PLACES = ("name", "job_id")
MAX_NAME = 100
ODD = re.compile(r"[^A-Za-z0-9._-]+")


def _check_path(path: str) -> str:
    """A folder below the connection, as it will be whatever fills its places."""
    folder = filled(path, dict.fromkeys(PLACES, "x"))
    if not is_plain(folder) or set(folder) & set("{}"):
        places = " and ".join(f"{{{place}}}" for place in PLACES)
        raise ValueError(f"must be a folder below the connection, without dots, with {places}")
    return path


def filled(path: str, values: dict[str, str]) -> str:
    """The folder that a path stands for."""
    for place in PLACES:
        path = path.replace(f"{{{place}}}", values[place])
    return path.removesuffix("/")


class Destination(Strict):
    """A folder of a connection that may be written."""

    connection: ConnectionName
    path: Annotated[
        str, StringConstraints(min_length=1, max_length=1024), AfterValidator(_check_path)
    ] = Field(
        description="A folder; `{job_id}` stands for the job's, `{name}` for the job's title or "
        "its dataset's name. Jobs that share one write over each other.",
        examples=["selections/{name}/{job_id}/"],
    )
    data: StrictBool = Field(default=False, description="Also the reduced table, `data.parquet`.")

    def folder(self, name: str, job_id: str) -> str:
        """The path for a job of this name: letters, digits and what harms no path."""
        plain = ODD.sub("-", name).strip("-.")[:MAX_NAME].rstrip("-.")
        return filled(self.path, {"name": plain or "unnamed", "job_id": job_id})


def check_destination(
    connections: Connections, tenant: str, destination: Destination, *at: str
) -> Bucket:
    """The connection, if the tenant may write there; `at` is where the destination stands."""
    where = pointer([*at, "connection"])
    connection = connections.find(tenant, destination.connection, where)
    if not isinstance(connection, Bucket) or not connection.write:
        raise _refused(where, "connection may not be written")
    if not is_within(destination.path.removesuffix("/"), connection.write):
        raise _refused(pointer([*at, "path"]), "path may not be written")
    return connection


def _refused(where: str, detail: str) -> Invalid:
    errors = [FieldError(where, detail)]
    return Invalid(detail, code="invalid_destination", errors=errors)
