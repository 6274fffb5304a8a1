"""What an operator may write into the file of connections."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import parse_qsl, urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    field_validator,
    model_validator,
)

from app.connections.paths import is_plain

EVERYBODY = "*"
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]


class Written(BaseModel):
    """A table of the file: what it does not know is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Secret(Written):
    """Where a secret comes from: never the file itself."""

    env: str | None = None
    file: Path | None = None

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if (self.env is None) == (self.file is None):
            raise ValueError("a secret comes from either env or file")
        return self


class Common(Written):
    """What every connection has."""

    description: str = ""
    tenants: list[str] = [EVERYBODY]
    secrets: dict[str, Secret] = {}

    def is_for(self, tenant: str) -> bool:
        """Whether a tenant may use it."""
        return EVERYBODY in self.tenants or tenant in self.tenants


class Bucket(Common):
    """Objects below an address; `read` and `write` are folders below it."""

    type: Literal["s3", "gs", "az", "file"]
    url: str
    endpoint: str | None = None
    region: str | None = None
    read: list[str] = [""]
    write: list[str] = []

    @model_validator(mode="after")
    def _check_address(self) -> Self:
        parts = urlsplit(self.url)
        if parts.scheme != self.type or "@" in parts.netloc or parts.query:
            raise ValueError(f"the url must begin with {self.type}:// and hold no secret")
        return self

    @field_validator("read", "write")
    @classmethod
    def _check_folders(cls, value: list[str]) -> list[str]:
        if not all(is_plain(folder.strip("/")) for folder in value if folder.strip("/")):
            raise ValueError("folders are plain paths without dots, stars or percent signs")
        return [folder.strip("/") for folder in value]


class Https(Common):
    """Files of these hosts, `host:port` unless it is the usual one.

    `networks` are private ones that they may be in.
    """

    type: Literal["https"]
    hosts: list[str] = Field(min_length=1)
    networks: list[str] = []
    plain: bool = Field(False, description="Also without TLS, for tests and private networks.")

    @field_validator("hosts")
    @classmethod
    def _check_hosts(cls, value: list[str]) -> list[str]:
        if any(not host or set(host) & set("/@?#*") for host in value):
            raise ValueError("hosts are names, without a scheme and a path")
        return [host.lower() for host in value]

    @field_validator("networks")
    @classmethod
    def _check_networks(cls, value: list[str]) -> list[str]:
        try:
            return [str(ip_network(network)) for network in value]
        except ValueError:
            raise ValueError("networks are written like 10.0.0.0/8") from None


class Postgres(Common):
    """Tables of these schemas, and queries if they are allowed, as the role of the address."""

    type: Literal["postgres"]
    url: str
    schemas: list[str] = ["public"]
    queries: bool = False
    seconds: int = Field(60, ge=1, le=3600)

    @field_validator("url")
    @classmethod
    def _check_address(cls, value: str) -> str:
        parts = urlsplit(value)
        in_query = "password" in dict(parse_qsl(parts.query))
        if parts.scheme not in {"postgres", "postgresql"} or parts.password or in_query:
            raise ValueError("the url must begin with postgresql:// and hold no password")
        return value


Connection = Annotated[Bucket | Https | Postgres, Field(discriminator="type")]
FILE: TypeAdapter[dict[Name, Connection]] = TypeAdapter(dict[Name, Connection])
