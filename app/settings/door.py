"""Who may come in, and from where."""

from __future__ import annotations

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings

from app.addresses import Network, is_loopback, parse_networks
from app.issuers import Issuer

MIN_SECRET_LENGTH = 32


class Door(BaseSettings):
    """What the API listens to."""

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

    @property
    def keys_required(self) -> bool:
        """Whether callers must show a key."""
        return self.require_keys or not is_loopback(self.host)

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
