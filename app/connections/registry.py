"""The connections that an operator named, and who may use which."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from app.connections.definitions import FILE, Bucket, Common, Https, Postgres, Secret
from app.errors import FieldError, Invalid

AnyConnection = Bucket | Https | Postgres


class BadConnections(Exception):
    """The file of connections cannot be used; the message says where it is wrong."""


@dataclass(frozen=True)
class Connections:
    """All of them, by name."""

    by_name: Mapping[str, AnyConnection] = field(default_factory=dict)

    def of(self, tenant: str) -> dict[str, AnyConnection]:
        """Those that a tenant may use."""
        return {name: one for name, one in self.by_name.items() if one.is_for(tenant)}

    def find(self, tenant: str, name: str, pointer: str) -> AnyConnection:
        """One that a tenant may use; another tenant's does not exist."""
        found = self.of(tenant).get(name)
        if found is None:
            detail = f"there is no connection {name!r}"
            raise Invalid(detail, code="unknown_connection", errors=[FieldError(pointer, detail)])
        return found


def load_connections(path: Path | None) -> Connections:
    """Read the file, or none; secrets are read when they are used."""
    if path is None:
        return Connections()
    try:
        return Connections(FILE.validate_python(tomllib.loads(path.read_text())))
    except ValidationError as error:
        # Without the input: somebody may have written a secret where an address belongs.
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise BadConnections(f"{path}: {where}: {first['msg']}") from None
    except (OSError, ValueError) as error:
        raise BadConnections(f"{path}: {error}") from error


def with_secrets(connection: Common) -> dict[str, Any]:
    """The connection as a program needs it that uses it: with what its secrets are."""
    secrets = {name: _read(name, secret) for name, secret in connection.secrets.items()}
    return {**connection.model_dump(mode="json"), "secrets": secrets}


def _read(name: str, secret: Secret) -> str:
    try:
        if secret.file is not None:
            return secret.file.read_text().strip()
        return os.environ[secret.env or ""]
    except (KeyError, OSError):
        where = secret.file or f"variable {secret.env}"
        raise BadConnections(f"the secret {name!r} is not to be had from {where}") from None
