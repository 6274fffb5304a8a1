"""What the service refuses, each with a stable code and a status; knows no HTTP library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

# With a body that is not read to its end: the server would read, and drop, what the client still
# has to say.
CLOSE = {"Connection": "close"}


@dataclass(frozen=True)
class FieldError:
    """One bad field: where it stands, as a JSON pointer, and what is wrong with it."""

    pointer: str
    detail: str
    place: Literal["body", "query", "path", "header"] = "body"


def pointer(steps: Iterable[object]) -> str:
    """The JSON pointer that goes these steps."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


class ServiceError(Exception):
    """Something a caller can act on; `extra` joins the rendered error."""

    status = 500
    code = "internal_error"
    own_headers: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        detail: str,
        *,
        code: str | None = None,
        errors: Sequence[FieldError] = (),
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or self.code
        self.errors = tuple(errors)
        self.headers = {**self.own_headers, **(headers or {})}
        self.extra = dict(extra or {})


class BadRequest(ServiceError):
    """A request that cannot be read."""

    status = 400
    code = "bad_request"


class Unauthorized(ServiceError):
    """Nobody is known to be asking."""

    status = 401
    code = "key_invalid"


class Forbidden(ServiceError):
    """Whoever asks is known, and may not."""

    status = 403
    code = "scope_missing"


class NotFound(ServiceError):
    """No such thing for this tenant."""

    status = 404
    code = "not_found"

    @classmethod
    def of(cls, kind: str, name: str) -> Self:
        """There is none of this kind that is called so."""
        return cls(f"there is no {kind} {name}", code=f"{kind}_not_found")


class NotAcceptable(ServiceError):
    """None of the media types that the caller accepts exists."""

    status = 406
    code = "not_acceptable"


class TooSlow(ServiceError):
    """A body that does not arrive."""

    status = 408
    code = "too_slow"
    own_headers = CLOSE


class Conflict(ServiceError):
    """The thing is there, but not in a state that allows this."""

    status = 409
    code = "conflict"


class TooLarge(ServiceError):
    """A body beyond the limit."""

    status = 413
    code = "too_large"
    own_headers = CLOSE


class UnsupportedMedia(ServiceError):
    """A body of a type that cannot be read."""

    status = 415
    code = "unsupported_media_type"


class Invalid(ServiceError):
    """A request that can be read and makes no sense."""

    status = 422
    code = "invalid_request"


class StorageFull(ServiceError):
    """No room for the body."""

    status = 507
    code = "storage_full"
    own_headers = CLOSE


class TooMany(ServiceError):
    """More than one tenant may have or ask for; `wait` is when it may be worth another try."""

    status = 429
    code = "too_many_requests"

    def __init__(self, detail: str, *, wait: int, code: str | None = None) -> None:
        super().__init__(detail, code=code, headers={"Retry-After": str(wait)})


class Unavailable(ServiceError):
    """Something the service stands on is away."""

    status = 503
    code = "unavailable"
