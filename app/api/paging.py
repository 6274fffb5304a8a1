"""Opaque cursors: where the next page begins."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, Field

from app.db.order import Position
from app.errors import FieldError, Invalid
from app.jobs.methods import Strict

DEFAULT_SIZE = 20
MAX_SIZE = 100
IDENTIFIER = re.compile(r"[a-z]{1,8}_[0-9a-f]{32}")


# What can be found by it is shown on a line.
Search = Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[^\x00-\x1f\x7f]+$")]
LabelPair = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9_.-]{1,64}=[^\x00-\x1f\x7f]{0,256}$", examples=["project=churn"]),
]


def label_of(pair: str | None) -> tuple[str, str] | None:
    """The key and the value of a label."""
    if pair is None:
        return None
    key, _, value = pair.partition("=")
    return key, value


class PageQuery(Strict):
    """Which page of a list."""

    page_size: Annotated[int, Field(ge=1, le=MAX_SIZE)] = DEFAULT_SIZE
    page_token: Annotated[str | None, Field(max_length=512)] = None


def encode(position: Sequence[Any]) -> str:
    """A token for a position; callers are not to look inside."""
    return urlsafe_b64encode(json.dumps(position).encode()).decode().rstrip("=")


def token_after(items: Sequence[Any], size: int) -> str | None:
    """The token of the page after these items, newest first, of which one more was asked for."""
    if len(items) <= size:
        return None
    last = items[size - 1]
    return token_at("newest", (last.created_at, last.id))


def decode_row(token: str | None) -> Position | None:
    """The position in a list by time of creation."""
    return decode_position(token, "newest")


def token_at(sort: str, position: Position | None) -> str | None:
    """The token of the page after a position of a list that is sorted so."""
    if position is None:
        return None
    key, identifier = position
    return encode([sort, key.isoformat() if isinstance(key, datetime) else key, identifier])


def decode_position(token: str | None, sort: str) -> Position | None:
    """The position in a list that is sorted so; another order has other tokens."""
    if token is None:
        return None
    try:
        sorted_by, key, identifier = _decode(token)
        if sorted_by != sort or not IDENTIFIER.fullmatch(identifier):
            raise ValueError(token)
        return _key(sort, key), identifier
    except (ValueError, TypeError) as error:
        raise _refused() from error


def _key(sort: str, key: Any) -> Any:
    if sort in ("newest", "oldest"):
        return as_utc(datetime.fromisoformat(key))
    if not isinstance(key, int if sort == "largest" else str) or isinstance(key, bool):
        raise ValueError(key)
    return key


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
