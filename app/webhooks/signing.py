"""Signatures as Standard Webhooks has them, symmetric: HMAC-SHA256 of id, time and body."""

from __future__ import annotations

import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Sequence

from app.webhooks.events import MEDIA_TYPE

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    """A secret that cannot be guessed, in the form that libraries of receivers take."""
    return PREFIX + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sign(secret: str, event_id: str, timestamp: int, body: str) -> str:
    """One signature."""
    key = b64decode(secret.removeprefix(PREFIX))
    signed = f"{event_id}.{timestamp}.{body}".encode()
    return f"v1,{b64encode(hmac.digest(key, signed, 'sha256')).decode()}"


def signed_headers(keys: Sequence[str], event_id: str, timestamp: int, body: str) -> dict[str, str]:
    """What a receiver is told and checks; while a secret is replaced, either one will do."""
    signatures = [sign(key, event_id, timestamp, body) for key in keys]
    return {
        "Content-Type": MEDIA_TYPE,
        "webhook-id": event_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }
