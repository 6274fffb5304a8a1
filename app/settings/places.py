"""Where things are: files, the database, the broker."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote, urlsplit

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings


class Places(BaseSettings):
    """Addresses and connections."""

    data_dir: Path = Field(
        default=Path("data"), description="Directory of uploads and embedded state."
    )
    store_url: str = Field(
        default="",
        description="Where datasets are: `file:///...`, `s3://...`, `gs://...` or `az://...`; "
        "empty is in `data_dir`.",
    )
    connections: Path | None = Field(
        default=None, description="TOML file of what data may be read from by reference."
    )
    database_url: str = Field(
        default="",
        repr=False,
        description="Database, `postgresql+psycopg://...`; empty is SQLite in `data_dir`.",
    )
    database_password: str = Field(
        default="", repr=False, description="Password for the database, if not in its address."
    )
    broker_url: str = Field(
        default="",
        repr=False,
        description="Redis, `redis://...`; empty lets `pith serve` start its own Valkey.",
    )
    broker_password: str = Field(
        default="", repr=False, description="Password for Redis, if not in its address."
    )
    dask_scheduler: str = Field(
        default="",
        pattern=r"^((tcp|tls)://[!-~]+)?$",
        description="Scheduler of a Dask cluster, `tcp://...`, for jobs that no worker can hold.",
    )
    database_connections: int = Field(
        default=20, ge=4, description="Connections of one API process to the database, at most."
    )
    database_seconds: float = Field(
        default=10, gt=0, description="Longest wait of a request for an answer of the database."
    )

    @model_validator(mode="before")
    @classmethod
    def _default_to_sqlite(cls, values: dict[str, object]) -> dict[str, object]:
        if values.get("database_url"):
            return values
        data_dir = Path(str(values.get("data_dir", "data"))).absolute()
        return {**values, "database_url": f"sqlite:///{data_dir / 'pith.db'}"}

    @model_validator(mode="before")
    @classmethod
    def _place_passwords(cls, values: dict[str, object]) -> dict[str, object]:
        for name in ("database", "broker"):
            address, password = values.get(f"{name}_url"), values.get(f"{name}_password")
            if address and password:
                values = {**values, f"{name}_url": _with_password(str(address), str(password))}
        return values


def _with_password(address: str, password: str) -> str:
    """Quoted, which it rarely is in the environment: a / or @ would end it."""
    parts = urlsplit(address)
    user, _, host = parts.netloc.rpartition("@")
    user = user.partition(":")[0]
    return parts._replace(netloc=f"{user}:{quote(password, safe='')}@{host}").geturl()
