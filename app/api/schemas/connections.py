"""Connections as callers see them: what they may do with them, and no secret."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class ConnectionRead(BaseModel):
    """A place that data may be read from by reference."""

    name: str
    type: Literal["s3", "gs", "az", "file", "https", "postgres"]
    description: str
    read: list[str] = Field([], description="Folders that may be read; an empty one is all.")
    write: list[str] = Field([], description="Folders that results may be written to.")
    hosts: list[str] = Field([], description="Of https.")
    schemas: list[str] = Field([], description="Of Postgres, whose tables may be read.")
    queries: bool = Field(False, description="Whether Postgres may be asked in SQL.")


class ConnectionList(BaseModel):
    """Every connection that the caller may use."""

    connections: list[ConnectionRead]
