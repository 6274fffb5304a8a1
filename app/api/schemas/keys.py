"""Keys as callers write and see them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from app.api.schemas.base import FromRow
from app.jobs.methods import Strict
from app.keys.scopes import Scope
from app.keys.service import MAX_DAYS, MAX_NAME_LENGTH

KeyName = Annotated[
    str, StringConstraints(max_length=MAX_NAME_LENGTH, pattern=r"^[^\x00-\x1f\x7f]*$")
]
Scopes = Annotated[list[Scope], Field(min_length=1, max_length=len(Scope))]


class KeyCreate(Strict):
    """A key to be made, for the tenant of the caller."""

    name: KeyName = Field("", description="A note for you.", examples=["nightly"])
    scopes: Scopes = Field([Scope.READ, Scope.WRITE], description="What it allows.")
    days: int = Field(365, ge=1, le=MAX_DAYS, description="Until it expires.")


class KeyRead(FromRow):
    """A key, without what would open anything."""

    id: str = Field(examples=["key_4yUo3jnS1Wd0Vbqz"])
    name: str
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="To the minute.")


class KeyCreated(KeyRead):
    """A key as it was made; `key` is not shown again."""

    key: str = Field(examples=["pith_..."])


class KeyList(BaseModel):
    """All keys of the tenant, oldest first."""

    items: list[KeyRead]
