"""The names of a dataset's files in the store."""

from __future__ import annotations

RAW = "raw"
COLUMNS = "columns.parquet"
SAMPLE = "sample.parquet"


def key_of(tenant: str, dataset_id: str, name: str = "") -> str:
    """The key of a file of a dataset, or of the dataset's whole folder."""
    return f"{tenant}/{dataset_id}/{name}".rstrip("/")
