"""Every setting of the service; the only reader of the environment."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote, urlsplit

from pydantic import ByteSize, Field, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.addresses import Network, is_loopback, parse_networks
from app.issuers import Issuer
from app.quota import Quota

GIB = 1024**3
MIN_SECRET_LENGTH = 32


def _with_password(address: str, password: str) -> str:
    """Quoted, which it rarely is in the environment: a / or @ would end it."""
    parts = urlsplit(address)
    user, _, host = parts.netloc.rpartition("@")
    user = user.partition(":")[0]
    return parts._replace(netloc=f"{user}:{quote(password, safe='')}@{host}").geturl()


def _size(gib: int, description: str) -> ByteSize:
    field: ByteSize = Field(default=ByteSize(gib * GIB), description=description)
    return field


def _address(description: str) -> str:
    field: str = Field(default="", pattern=r"^(https?://[!-~]+)?$", description=description)
    return field


class Settings(BaseSettings):
    """Read from variables named like the field, in capitals, after `PITH_`."""

    model_config = SettingsConfigDict(env_prefix="PITH_", frozen=True)

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
    database_connections: int = Field(
        default=20, ge=4, description="Connections of one API process to the database, at most."
    )
    database_seconds: float = Field(
        default=10, gt=0, description="Longest wait of a request for an answer of the database."
    )

    host: str = Field(
        default="127.0.0.1", description="Address to listen on; loopback when embedded."
    )
    port: int = Field(
        default=8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one."
    )
    root_path: str = Field(
        default="",
        pattern=r"^(/[A-Za-z0-9._~-]+)*$",
        description="Path below which a proxy serves this, such as `/pith`.",
    )
    require_keys: bool = Field(
        default=False, description="Ask for keys on loopback too; beyond it they always are."
    )
    key_secret: str = Field(
        default="",
        repr=False,
        description="Secret that keys are hashed with; empty is one made in `data_dir`.",
    )
    failed_keys_per_minute: float = Field(
        default=60,
        ge=0,
        description="Unknown keys and tokens from one address to one API process; 0 is no limit.",
    )
    oidc_issuers: tuple[Issuer, ...] = Field(
        default=(), description="Issuers whose tokens are believed beside keys, as JSON; see below."
    )
    trusted_proxies: str = Field(
        default="",
        description="Addresses, with commas, of proxies whose `X-Forwarded-For` is believed.",
    )
    allowed_networks: str = Field(
        default="",
        description="Networks, with commas, that callers' addresses may lead to though private.",
    )
    stop_seconds: int = Field(
        default=20, ge=1, description="Time that requests under way get at a stop."
    )
    max_wait_seconds: int = Field(
        default=60, ge=0, description="Longest `Prefer: wait` that is honoured."
    )

    max_upload_bytes: ByteSize = _size(4, "Largest body of an upload; `4GiB` and the like.")
    upload_window_seconds: float = Field(
        default=30, gt=0, description="Time that headers, a document or a slow upload get."
    )
    upload_min_rate: ByteSize = Field(
        default=ByteSize(4096), description="Bytes a second an upload must bring in every window."
    )
    max_rows: int = Field(default=50_000_000, ge=1, description="Most rows of a dataset.")
    max_columns: int = Field(default=50_000, ge=2, description="Most columns of a dataset.")
    max_name_length: int = Field(
        default=256, ge=1, description="Longest column name, in characters."
    )
    max_cell_bytes: ByteSize = Field(
        default=ByteSize(65_536), description="Longest cell of text, in UTF-8."
    )
    ingest_memory_bytes: ByteSize = _size(8, "Memory of the process that reads one upload.")
    ingest_scratch_bytes: ByteSize = _size(8, "Disk that reading one upload may take meanwhile.")
    ingest_seconds: int = Field(
        default=900, ge=1, description="Time that reading one upload may take."
    )

    tenant_max_bytes: ByteSize = _size(100, "Bytes of uploads that one tenant may keep.")
    tenant_max_datasets: int = Field(
        default=1000, ge=1, description="Datasets that one tenant may keep."
    )
    tenant_max_queued_jobs: int = Field(
        default=1000, ge=1, description="Queued jobs of one tenant; more are refused."
    )
    tenant_max_running_jobs: int = Field(
        default=64, ge=1, description="Running jobs of one tenant; more wait."
    )
    tenant_shares: dict[str, Annotated[float, Field(gt=0)]] = Field(
        default={},
        description='Shares of the workers other than 1, by tenant: `{"acme": 3}`.',
    )
    tenant_max_webhooks: int = Field(
        default=100, ge=1, description="Webhooks of one tenant, those that jobs named included."
    )
    tenant_requests_per_second: float = Field(
        default=1000,
        ge=0,
        description="Requests of one tenant's keys to one API process; 0 is no limit.",
    )

    max_deadline_seconds: int = Field(
        default=86_400, ge=1, description="Longest `deadline_seconds` of a job, and the default."
    )
    max_attempts: int = Field(
        default=3, ge=1, description="Times a job is started before it fails."
    )
    lease_seconds: float = Field(
        default=30, gt=0, description="Silence after which a worker is taken for dead."
    )
    heartbeat_seconds: float = Field(
        default=1, gt=0, description="How often a worker renews its lease and looks for a cancel."
    )
    sweep_seconds: float = Field(
        default=5, gt=0, description="How often expired leases and forgotten jobs are looked for."
    )
    resend_seconds: float = Field(
        default=10,
        gt=0,
        description="Silence after which a job's id is sent again; 30 times that in a full queue.",
    )
    backoff_seconds: float = Field(
        default=5, ge=0, description="Wait before the second attempt; doubled for each one after."
    )
    checkpoint_seconds: float = Field(
        default=30, ge=0, description="Work that a killed worker may cost; then it is saved."
    )
    job_retention_days: float = Field(
        default=30, gt=0, description="Age, from its end, at which a final job is removed."
    )
    dataset_retention_days: float = Field(
        default=30, gt=0, description="Age, from its newest job, at which a dataset is removed."
    )
    audit_retention_days: float = Field(
        default=365,
        ge=30,  # the database itself deletes no younger line
        description="Age at which a line of the audit is removed; at least 30.",
    )
    orphan_hours: float = Field(
        default=24, gt=0, description="Age at which files that belong to nothing are removed."
    )

    webhook_seconds: float = Field(
        default=15, gt=0, description="Time that the receiver of a webhook has to answer."
    )
    webhook_days: float = Field(
        default=3,
        gt=0,
        description="Time for which a delivery, of results too, is tried; then a webhook is off.",
    )

    worker_concurrency: int = Field(
        default=1, ge=1, description="Jobs that one worker runs at a time."
    )
    worker_readers: int = Field(
        default=2, ge=1, description="Uploads that one worker reads at a time, beside its jobs."
    )
    worker_senders: int = Field(
        default=8, ge=1, description="Webhooks that one worker delivers to at a time."
    )
    worker_exporters: int = Field(
        default=2, ge=1, description="Jobs whose files one worker writes out at a time."
    )
    worker_threads: int = Field(
        default=0,
        ge=0,
        description="Threads of one job; 0 is one for each core the worker may use.",
    )
    kernel_dir: Path | None = Field(
        default=None,
        description="Directory of compiled kernels, by engine; empty leaves the choice to numba.",
    )
    worker_max_jobs: int = Field(
        default=100, ge=1, description="Jobs after which a worker's process is replaced."
    )
    worker_max_memory_bytes: ByteSize = _size(
        8, "Memory of one job; a process that holds more is replaced after its job."
    )

    lineage_url: str = _address(
        "Where OpenLineage events of all jobs go: `http://marquez:5000/api/v1/lineage`."
    )
    lineage_key: str = Field(
        default="", repr=False, description="Bearer token for that address, if it wants one."
    )
    lineage_namespace: str = Field(
        default="pith", min_length=1, description="What this service is called there."
    )
    traces_url: str = _address(
        "Where traces go, as OTLP over HTTP: `http://collector:4318/v1/traces`."
    )

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least severe line that is written."
    )
    log_format: Literal["auto", "json", "console"] = Field(
        default="auto", description="`auto` is `console` on a terminal and `json` elsewhere."
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

    @property
    def quota(self) -> Quota:
        """How much one tenant may have."""
        return Quota(
            n_bytes=self.tenant_max_bytes,
            n_datasets=self.tenant_max_datasets,
            n_queued_jobs=self.tenant_max_queued_jobs,
            n_webhooks=self.tenant_max_webhooks,
        )

    @property
    def keys_required(self) -> bool:
        """Whether callers must show a key."""
        return self.require_keys or not is_loopback(self.host)

    @property
    def lineage(self) -> str | None:
        """The namespace of lineage; None where none is told."""
        return self.lineage_namespace if self.lineage_url else None

    @property
    def networks(self) -> tuple[Network, ...]:
        """Those of `allowed_networks`."""
        return parse_networks(self.allowed_networks)

    @field_validator("allowed_networks")
    @classmethod
    def _check_networks(cls, value: str) -> str:
        parse_networks(value)
        return value

    @field_validator("key_secret")
    @classmethod
    def _check_secret(cls, value: str) -> str:
        if value and len(value) < MIN_SECRET_LENGTH:
            raise ValueError(f"a secret has at least {MIN_SECRET_LENGTH} characters")
        return value

    @model_validator(mode="after")
    def _check_intervals(self) -> Settings:
        if self.heartbeat_seconds * 3 > self.lease_seconds:
            raise ValueError("PITH_LEASE_SECONDS must be at least three PITH_HEARTBEAT_SECONDS")
        return self


@lru_cache
def get_settings() -> Settings:
    """Read the settings of this process, once."""
    return Settings()
