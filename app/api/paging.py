"""Opaque cursors: where the next page begins."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, Field

from app.errors import FieldError, Invalid
from app.jobs.methods import Strict

DEFAULT_SIZE = 20
MAX_SIZE = 100
IDENTIFIER = re.compile(r"[a-z]{1,8}_[0-9a-f]{32}")


class PageQuery(Strict):
    """Which page of a list."""

    page_size: Annotated[int, Field(ge=1, le=MAX_SIZE)] = DEFAULT_SIZE
    page_token: Annotated[str | None, Field(max_length=512)] = None


def encode(position: Sequence[Any]) -> str:
    """A token for a position; callers are not to look inside."""
    return urlsafe_b64encode(json.dumps(position).encode()).decode().rstrip("=")


def token_after(items: Sequence[Any], size: int) -> str | None:
    """The token of the page after these items, of which one more than `size` was asked for."""
    if len(items) <= size:
        return None
    last = items[size - 1]
    return encode([last.created_at.isoformat(), last.id])


def decode_row(token: str | None) -> tuple[datetime, str] | None:
    """The position in a list by time of creation."""
    if token is None:
        return None
    try:
        created, identifier = _decode(token)
        moment = as_utc(datetime.fromisoformat(created))
        if not IDENTIFIER.fullmatch(identifier):
            raise ValueError(identifier)
    except (ValueError, TypeError) as error:
        raise _refused() from error
    return moment, identifier


def as_utc(moment: datetime) -> datetime:
    """The same moment, or ValueError where it lies beyond the ends of time or has no zone."""
    if moment.tzinfo is None:
        raise ValueError("a time needs a zone")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("lies beyond the ends of time") from None


Moment = Annotated[AwareDatetime, AfterValidator(as_utc)]


def decode_number(token: str | None) -> int:
    """The position in a list by number; 0 is before the first."""
    if token is None:
        return 0
    try:
        (number,) = _decode(token)
        if not isinstance(number, int) or not 0 <= number < 2**31:
            raise ValueError(number)
    except (ValueError, TypeError) as error:
        raise _refused() from error
    return number


def _decode(token: str) -> list[Any]:
    decoded = json.loads(urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    if not isinstance(decoded, list):
        raise ValueError(token)
    return decoded


def _refused() -> Invalid:
    detail = "page_token is not one that this service gave out"
    error = FieldError("/page_token", detail, "query")
    return Invalid(detail, code="invalid_page_token", errors=[error])
