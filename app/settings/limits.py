"""How much is taken: of an upload, of a tenant."""

from __future__ import annotations

from typing import Annotated

from pydantic import ByteSize, Field
from pydantic_settings import BaseSettings

from app.quota import Quota
from app.settings.fields import size


class Limits(BaseSettings):
    """Beyond these a request is refused, or waits."""

    max_upload_bytes: ByteSize = size(4, "Largest body of an upload; `4GiB` and the like.")
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
    ingest_memory_bytes: ByteSize = size(8, "Memory of the process that reads one upload.")
    ingest_scratch_bytes: ByteSize = size(8, "Disk that reading one upload may take meanwhile.")
    ingest_seconds: int = Field(
        default=900, ge=1, description="Time that reading one upload may take."
    )
    ask_seconds: int = Field(
        default=30, ge=1, description="Time that a look at a reference may take: its columns, say."
    )

    tenant_max_bytes: ByteSize = size(100, "Bytes of uploads that one tenant may keep.")
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

    @property
    def quota(self) -> Quota:
        """How much one tenant may have."""
        return Quota(
            n_bytes=self.tenant_max_bytes,
            n_datasets=self.tenant_max_datasets,
            n_queued_jobs=self.tenant_max_queued_jobs,
            n_webhooks=self.tenant_max_webhooks,
        )
